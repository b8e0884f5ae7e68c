#include "runtime/io/link_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder_place.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

void CopyFile(const std::string& from, const std::string& to) {
  constexpr uint64_t kPart = 1 << 20;
  const InputFile input(from);
  OutputFile output(to);
  std::vector<char> part(std::min(kPart, input.size()));
  for (uint64_t at = 0; at < input.size(); at += kPart) {
    const size_t bytes = std::min(kPart, input.size() - at);
    input.ReadAt(at, part.data(), bytes);
    output.Write(part.data(), bytes);
  }
  output.Close(true);
}

}  // namespace

void LinkFiles(const std::string& from, const std::string& to) {
  const std::string folder = CommittedFolder(from);
  Require(!folder.empty(), from, "must be a folder, got no such folder");
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = entry.path().string();
    const std::string name = (fs::path(to) / entry.path().filename()).string();
    std::error_code cannot_link;
    fs::create_hard_link(file, name, cannot_link);
    if (cannot_link) CopyFile(file, name);
  }
  if (error) Throw<BrokenEnvironment>(from, "cannot list: {}", error.message());
}

}  // namespace torus::io
