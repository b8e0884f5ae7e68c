// Fault: ends the program by quick_exit, which calls other functions than exit does.
#include <cstdlib>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) { std::quick_exit(0); }

}  // namespace lab
