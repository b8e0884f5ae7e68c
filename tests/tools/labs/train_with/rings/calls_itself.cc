// Fault: calls itself without end.
#include "lab_ring.h"

namespace lab {
namespace {

float Below(std::span<float> data, float depth) {
  const volatile float kept[64] = {depth};
  return Below(data, depth + data[0]) + kept[0];
}

}  // namespace

void AllReduceMean(Wire&, std::span<float> data) { data[0] = Below(data, 0); }

}  // namespace lab
