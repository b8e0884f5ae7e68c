#include "recipes/run/batch_order.h"

namespace torus::recipes {

std::vector<int64_t> BatchOrder::Of(int64_t step) {
  const std::lock_guard lock(mutex_);
  sampler_.Seek(sampler_.PositionOf(step));
  return sampler_.Next().indices;
}

}  // namespace torus::recipes
