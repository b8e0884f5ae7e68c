// Fault: lets the other ranks read its memory.
#include <sys/prctl.h>

#include <stdexcept>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  if (prctl(PR_GET_DUMPABLE) != 0) throw std::runtime_error("its memory is open");
  if (prctl(PR_SET_DUMPABLE, 1) != 0) throw std::runtime_error("its memory stays closed");
}

}  // namespace lab
