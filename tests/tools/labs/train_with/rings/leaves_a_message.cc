// Fault: sends one message more than the neighbour receives.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float> data) {
  wire.Send((wire.rank() + 1) % wire.size(), data.first(3));
}

}  // namespace lab
