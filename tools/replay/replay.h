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

// The .safetensors files that `paths` name. A folder stands for the files in it (not in its
// subfolders), sorted by name. Throws BadInput for a path that does not exist and for a folder
// without such files.
std::vector<std::string> FindCases(const std::vector<std::string>& paths);

// Runs each file on `device`. Prints one line per case ("pass", "fail" or "unsupported", its name,
// and why) and a last line "N passed, N failed, N unsupported". An unreadable file counts as
// failed. Throws BadInput for a device that this build does not have.
Totals Replay(const std::vector<std::string>& files, Device device, std::ostream& out);

}  // namespace torus::replay
