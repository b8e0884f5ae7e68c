#include "runtime/io/folder_place.h"

#include <filesystem>
#include <system_error>

#include "runtime/error.h"

namespace torus::io {

namespace fs = std::filesystem;

FolderPlace PlaceOf(const std::string& path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) Throw<BrokenEnvironment>(path, "cannot resolve: {}", error.message());
  if (!resolved.has_filename()) resolved = resolved.parent_path();
  const std::string hidden = fmt::format(".{}.torus", resolved.filename().string());
  return {resolved.string(), (resolved.parent_path() / hidden).string()};
}

std::string CommittedFolder(const std::string& path) {
  const FolderPlace place = PlaceOf(path);
  std::error_code ignored;
  // The path is tried again at the end, in case a writer finished between the first two tries.
  for (const std::string& candidate : {place.path, place.old(), place.path})
    if (fs::is_directory(candidate, ignored)) return candidate;
  return "";
}

}  // namespace torus::io
