// Fault: rank 1 never returns from its first call.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float> data) {
  volatile float sum = 0;
  while (wire.rank() == 1) sum = sum + data[0];
}

}  // namespace lab
