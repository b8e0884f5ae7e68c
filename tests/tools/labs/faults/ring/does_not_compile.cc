// Fault: a name that nothing has.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float> data) {
  for (float& value : data) value /= wire.sise();
}

}  // namespace lab
