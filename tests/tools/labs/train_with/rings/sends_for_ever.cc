// Fault: sends without end.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float>) {
  while (true) wire.Send((wire.rank() + 1) % wire.size(), {});
}

}  // namespace lab
