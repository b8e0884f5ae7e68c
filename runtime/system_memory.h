// How much memory the process may use.
#pragma once

#include <cstddef>
#include <string>

namespace torus {

// The minimum, in bytes, of the machine's memory and the limits of the process's control groups
// (cgroups, versions 1 and 2). `root` is prepended to /proc and /sys, for tests.
size_t SystemMemory(const std::string& root = "");

}  // namespace torus
