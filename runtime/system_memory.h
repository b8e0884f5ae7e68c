// How much memory the process may use.
#pragma once

#include <cstddef>
#include <string>

namespace torus {

// The least of the machine's memory and the limits of the control groups that the process is in
// (versions 1 and 2), in bytes. `root` stands before /proc and /sys, for tests.
size_t SystemMemory(const std::string& root = "");

}  // namespace torus
