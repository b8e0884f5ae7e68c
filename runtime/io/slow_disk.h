// An emulated slow or hanging disk, for tests of what a run does with one.
#pragma once

#include <cstddef>

namespace torus::io {

// From now on all files of this process (OutputFile) are written at most at this rate in sum, in
// bytes per second. 0: a disk that never answers, on which every write hangs. Negative: no
// emulation. The environment variable TORUS_SLOW_DISK sets it for a whole program.
void EmulateDisk(double bytes_per_second);

// Takes as long as the emulated disk takes for so many bytes.
void WaitForEmulatedDisk(size_t bytes);

}  // namespace torus::io
