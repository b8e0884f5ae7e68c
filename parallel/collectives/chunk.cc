#include "parallel/collectives/chunk.h"

#include <algorithm>

namespace torus::parallel {

Chunk ChunkOf(int64_t count, int ranks, int index) {
  const int64_t i = (index % ranks + ranks) % ranks, small = count / ranks, larger = count % ranks;
  return {i * small + std::min(i, larger), small + (i < larger ? 1 : 0)};
}

}  // namespace torus::parallel
