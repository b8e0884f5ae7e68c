// Fault: ends by an assertion that does not hold.
#include <cstdlib>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) { std::abort(); }

}  // namespace lab
