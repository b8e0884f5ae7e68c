// Fault: rank 1 throws in the third sum.
#include <stdexcept>
#include <vector>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire& wire, std::span<float> data) {
  static int sums = 0;
  if (wire.rank() == 1 && ++sums == 3) throw std::runtime_error("the third one is too much");
  const int n = wire.size();
  std::vector<float> out(data.begin(), data.end()), in(data.size());
  for (int step = 0; step < n - 1; ++step) {
    wire.Send((wire.rank() + 1) % n, out);
    wire.Recv((wire.rank() + n - 1) % n, in);
    for (size_t i = 0; i < data.size(); ++i) data[i] += in[i];
    out = in;
  }
  for (float& value : data) value /= static_cast<float>(n);
}

}  // namespace lab
