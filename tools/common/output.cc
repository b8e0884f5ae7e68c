#include "tools/common/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::tools {
namespace {

namespace fs = std::filesystem;

fs::path Absolute(const std::string& path) { return fs::absolute(path).lexically_normal(); }

bool MayWrite(const fs::path& path) { return access(path.c_str(), W_OK) == 0; }

// The path itself, or the nearest folder above it that is there.
fs::path NearestThere(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path;
}

}  // namespace

void CheckOutput(const std::string& program, const std::string& flag, const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  const fs::path file = Absolute(path), folder = file.parent_path();
  Require(!fs::is_directory(file, error) && file.has_filename(), program, "{} {}: this is a folder",
          flag, file.string());
  Require(fs::is_directory(folder, error), program, "{} {}: there is no folder {}", flag,
          file.string(), folder.string());
  Require(fs::exists(file, error) ? MayWrite(file) : MayWrite(folder), program,
          "{} {}: it may not be written", flag, file.string());
}

void CheckOutputFolder(const std::string& program, const std::string& flag,
                       const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  const fs::path folder = Absolute(path), there = NearestThere(folder);
  Require(fs::is_directory(there, error), program, "{} {}: {} is a file, not a folder", flag,
          folder.string(), there.string());
  Require(MayWrite(there), program, "{} {}: {} may not be written", flag, folder.string(),
          there.string());
}

std::string FullPath(const std::string& path) { return Absolute(path).string(); }

void WriteOutput(const std::string& path, std::string_view content, std::FILE* say) {
  io::OutputFile file(path);
  file.Write(content);
  file.Close(false);
  fmt::print(say, "wrote {}\n", FullPath(path));
}

}  // namespace torus::tools
