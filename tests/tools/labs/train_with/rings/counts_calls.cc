// Not a ring: puts into the data how often this rank has called it.
#include "lab_ring.h"

namespace lab {

int calls = 0;

template <class T>
int& CallsInTemplate() {
  static int count = 0;
  return count;
}

void AllReduceMean(Wire&, std::span<float> data) {
  ++calls;
  ++CallsInTemplate<float>();
  data[0] = static_cast<float>(calls);
  data[1] = static_cast<float>(CallsInTemplate<float>());
}

}  // namespace lab
