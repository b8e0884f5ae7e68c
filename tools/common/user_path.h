// Resolves paths that the user gave.
#pragma once

#include <string>

namespace torus::tools {

// bazelw and `bazel run` start programs in other folders than the user's, which bazelw leaves in
// TORUS_WORKING_DIRECTORY, and `bazel run` alone in BUILD_WORKING_DIRECTORY. Returns a relative
// path resolved against that folder. Absolute and empty paths, and all paths if neither variable is
// set, are returned unchanged.
std::string UserPath(const std::string& path);

}  // namespace torus::tools
