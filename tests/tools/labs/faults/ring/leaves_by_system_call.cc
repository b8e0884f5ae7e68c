// Fault: ends the program by the system's own call, without the functions that exit calls.
#include <unistd.h>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) { _exit(0); }

}  // namespace lab
