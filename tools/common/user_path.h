// Resolves paths that the user gave.
#pragma once

#include <string>

namespace torus::tools {

// `bazel run` starts programs in another folder, and sets BUILD_WORKING_DIRECTORY to the user's.
// Returns a relative path resolved against that folder. Absolute and empty paths, and all paths if
// the variable is not set, are returned unchanged.
std::string UserPath(const std::string& path);

}  // namespace torus::tools
