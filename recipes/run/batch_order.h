// BatchOrder: which examples a step's mini-batch has, for ranks that load none of its data.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "data/loading/sampler.h"

namespace torus::recipes {

class BatchOrder {
 public:
  explicit BatchOrder(const data::Sampler& sampler) : sampler_(sampler) {}

  // The dataset index of each row of the mini-batch of step `step`. Thread-safe.
  std::vector<int64_t> Of(int64_t step);

 private:
  std::mutex mutex_;
  data::Sampler sampler_;
};

}  // namespace torus::recipes
