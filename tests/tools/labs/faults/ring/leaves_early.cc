// Fault: ends the program.
#include <cstdlib>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) { std::exit(0); }

}  // namespace lab
