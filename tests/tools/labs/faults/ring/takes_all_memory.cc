// Fault: allocates more and more memory.
#include <vector>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float> data) {
  std::vector<std::vector<float>> hoard;
  for (;;) hoard.emplace_back(size_t{1} << 22, data.empty() ? 0.0F : data[0]);
}

}  // namespace lab
