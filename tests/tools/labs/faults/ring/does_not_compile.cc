// Fault: uses a name that is not defined.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float> data) {
  for (float& value : data) value /= wire.sise();
}

}  // namespace lab
