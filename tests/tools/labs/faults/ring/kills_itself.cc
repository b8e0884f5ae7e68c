// Fault: ends like a process that the system kills for lack of memory.
#include <csignal>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) { std::raise(SIGKILL); }

}  // namespace lab
