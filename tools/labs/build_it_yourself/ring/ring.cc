// Lab "ring": fill in the two halves, as lab_ring.h explains. Then grade it:
//   ./bazelw run //tools/labs:grade -- ring my_ring.cc
#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float> data) {
  const int n = wire.size(), rank = wire.rank();
  const int right = (rank + 1) % n, left = (rank + n - 1) % n;

  // TODO: reduce-scatter. Then the sum of this rank's own chunk is complete: divide it by n.

  // TODO: all-gather.

  (void)data, (void)right, (void)left;  // remove this line
}

}  // namespace lab
