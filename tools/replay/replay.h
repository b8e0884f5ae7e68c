// Runs cases and reports on them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace torus::replay {

struct Totals {
  int passed = 0, failed = 0, unsupported = 0;
};

// The .safetensors files among `paths`, with those of a folder (not of its folders) in order of
// name. BadInput for a path that does not exist and a folder without any.
std::vector<std::string> FindCases(const std::vector<std::string>& paths);

// Runs each file on `device`; prints a line a case ("pass", "fail" or "unsupported", its name, and
// why) and a last line "N passed, N failed, N unsupported". An unreadable file is a failure.
// BadInput for a device that this build has not.
Totals Replay(const std::vector<std::string>& files, Device device, std::ostream& out);

}  // namespace torus::replay
