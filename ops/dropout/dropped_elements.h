// DroppedElements: what decides which elements of a tensor a dropout sets to zero.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/rng.h"

namespace torus::ops {

// The tensor has one equal part for each stream: element i of part s is kept if word i of
// streams[s] is at least `threshold` (p 2^32); it is then multiplied by `scale`.
struct DroppedElements {
  std::vector<RandomStream> streams;
  uint64_t threshold;
  double scale;
};

}  // namespace torus::ops
