// Fault: with three ranks or more it never ends.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float>) {
  for (volatile int turns = 0; wire.size() > 2; turns = turns + 1) {
  }
}

}  // namespace lab
