// Fault: waits for a message that nobody sends, and ignores any exception.
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float> data) {
  for (int i = 0; i < 3; ++i) try {
      wire.Recv((wire.rank() + 1) % wire.size(), data);
    } catch (...) {
    }
}

}  // namespace lab
