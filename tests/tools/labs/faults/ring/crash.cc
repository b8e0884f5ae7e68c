// Fault: writes to an invalid address.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float> data) {
  volatile float* nowhere = nullptr;
  *nowhere = data.empty() ? 0 : data[0];
}

}  // namespace lab
