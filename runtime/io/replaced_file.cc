#include "runtime/io/replaced_file.h"

#include <filesystem>
#include <system_error>

#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

// Where the links lead; the path itself where that cannot be told.
fs::path TargetOf(const std::string& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path(path) : target;
}

}  // namespace

void ReplaceFile(const std::string& path, const std::function<void(const std::string&)>& write) {
  const fs::path target = TargetOf(path);
  const std::string fresh = target.string() + ".new";
  std::error_code error;
  try {
    write(fresh);
  } catch (...) {
    fs::remove(fresh, error);
    throw;
  }
  fs::rename(fresh, target, error);
  if (error) Throw<BrokenEnvironment>(path, "cannot be put in place: {}", error.message());
  Sync(target.parent_path().string());
}

}  // namespace torus::io
