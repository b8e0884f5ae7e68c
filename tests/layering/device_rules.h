// Where code may be that is written for one device: raw memory, its kernels and its libraries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

// "path:line: may not ..." for each line of a source file that breaks a rule; `path` is relative to
// the root of the tree. Comments do not count.
//
// In ops and models (but for models/checkpoint, which reads and writes files), memory is read and
// written, ParallelFor called and a device's namespace named in folders cpu/ and cuda/ alone; a
// family's kernels.h may name the namespaces, and no memory.
std::vector<std::string> CheckDeviceCode(std::string_view path, std::string_view text);

}  // namespace torus::layering
