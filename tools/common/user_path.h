// Paths as the user meant them.
#pragma once

#include <string>

namespace torus::tools {

// `bazel run` starts programs in a folder of its own; a relative path is meant from where the user
// stood, which Bazel leaves in BUILD_WORKING_DIRECTORY. Absolute and empty paths come back as they
// are, and so do all without that variable.
std::string UserPath(const std::string& path);

}  // namespace torus::tools
