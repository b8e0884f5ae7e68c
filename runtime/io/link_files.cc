#include "runtime/io/link_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder_names.h"
#include "runtime/io/folder_place.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

void CopyFile(const std::string& from, const std::string& to) {
  constexpr uint64_t kPart = 1 << 20;
  const InputFile input(from);
  OutputFile output(to, IfExists::kRefuse);
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
  for (const std::string& name : NamesIn(folder)) {
    const std::string file = (fs::path(folder) / name).string();
    const std::string link = (fs::path(to) / name).string();
    std::error_code error;
    if (!fs::is_regular_file(file, error)) continue;
    fs::create_hard_link(file, link, error);
    if (error) CopyFile(file, link);
  }
}

}  // namespace torus::io
