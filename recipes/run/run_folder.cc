#include "recipes/run/run_folder.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/io/folder_place.h"

namespace torus::recipes {
namespace {

namespace fs = std::filesystem;

void MakeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error))
    Throw<BrokenEnvironment>(path, "cannot make the folder: {}",
                             error ? error.message() : "there is a file of that name");
}

// False if it exists already.
bool Make(const std::string& path) {
  std::error_code error;
  const bool made = fs::create_directory(path, error);
  if (error) Throw<BrokenEnvironment>(path, "cannot make the folder: {}", error.message());
  return made;
}

std::string DefaultName(const Settings& settings) {
  std::string name = settings.model + "-" + settings.data;
  std::ranges::replace(name, ':', '-');
  return fmt::format("{}-{:%Y%m%d-%H%M%S}", name, fmt::localtime(std::time(nullptr)));
}

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

OwnRunFolder TakeRunFolder(const RunFolder& folder) {
  return {folder, std::make_unique<io::FileLock>(folder.path + "/.lock", folder.path)};
}

OwnRunFolder NewRunFolder(const std::string& path) {
  const RunFolder folder{WithoutSlashes(path)};
  MakeFolders(folder.path);
  OwnRunFolder own = TakeRunFolder(folder);
  Require(io::CommittedFolder(folder.checkpoint()).empty(), folder.path,
          "holds a run already; go on with it by --resume, or give another --out");
  return own;
}

OwnRunFolder NewRunFolder(const std::string& runs, const Settings& settings) {
  MakeFolders(runs);
  const std::string base = runs + "/" + DefaultName(settings);
  std::string path = base;
  for (int i = 2; !Make(path); ++i) path = fmt::format("{}-{}", base, i);
  return TakeRunFolder({path});
}

RunFolder ExistingRunFolder(const std::string& given) {
  const fs::path path(WithoutSlashes(given));
  const auto has = [](const fs::path& folder) {
    return !io::CommittedFolder(folder.string()).empty();
  };
  if (has(path / "checkpoint") || has(path / "earlier")) return {path.string()};
  const std::string name = path.filename().string();
  if ((name == "checkpoint" || name == "best") && has(path) && path.has_parent_path())
    return {path.parent_path().string()};
  const fs::path above = path.parent_path();
  if (above.filename() == "earlier" && has(path) && above.has_parent_path())
    return {above.parent_path().string()};
  std::error_code none;
  for (const char* file : {".lock", "metrics.jsonl", "summary.json"})
    Require(!fs::exists(path / file, none), path.string(),
            "is a run that has no checkpoint yet: begin it anew with the same --out");
  Throw<BadInput>(path.string(), "must be the folder of a run or its checkpoint, got neither");
}

}  // namespace torus::recipes
