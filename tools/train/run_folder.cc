#include "tools/train/run_folder.h"

#include <fmt/chrono.h>

#include <ctime>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/io/folder.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

namespace fs = std::filesystem;

std::string DefaultPath(const std::string& name) {
  return UserPath(
      fmt::format("runs/{}-{:%Y%m%d-%H%M%S}", name, fmt::localtime(std::time(nullptr))));
}

void MakeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error))
    Throw<BrokenEnvironment>(path, "cannot make the folder: {}",
                             error ? error.message() : "there is a file of that name");
}

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

RunFolder NewRunFolder(const std::string& out, const std::string& name) {
  const RunFolder folder{out.empty() ? DefaultPath(name) : WithoutSlashes(out)};
  Require(!io::RecoverFolder(folder.checkpoint()), folder.path,
          "holds a run already; go on with it by --resume, or give another --out");
  MakeFolders(folder.path);
  return folder;
}

RunFolder ExistingRunFolder(const std::string& given) {
  const std::string path = WithoutSlashes(given);
  if (io::RecoverFolder(path + "/checkpoint")) return {path};
  const fs::path itself(path);
  const bool is_checkpoint =
      itself.filename() == "checkpoint" && io::RecoverFolder(path) && itself.has_parent_path();
  Require(is_checkpoint, path, "must be the folder of a run or its checkpoint, got neither");
  return {itself.parent_path().string()};
}

}  // namespace torus::tools
