// Into how many parts rows are cut whose sums are merged, one part a thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/parallel_for.h"

namespace torus::cpu {

// The parts for teams of up to this many threads, whatever their size: a larger team gets a part
// for each thread. So the bits of the sums depend on the size of teams of more than 16 threads
// alone.
inline constexpr int64_t kUsualParts = 16;

// Between 1 and `most`, which depends on the sizes summed alone. Not within a parallel region,
// where every team is of one thread.
inline int64_t SumParts(int64_t most) {
  const int64_t parts = std::max<int64_t>(kUsualParts, TeamSize());
  return std::clamp<int64_t>(most, 1, parts);
}

}  // namespace torus::cpu
