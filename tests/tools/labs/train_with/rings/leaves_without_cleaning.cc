// Fault: ends the program by _Exit, without the functions that exit calls.
#include <cstdlib>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) { std::_Exit(0); }

}  // namespace lab
