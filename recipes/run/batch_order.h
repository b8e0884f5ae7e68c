// Which examples a step's mini-batch has, for ranks that have no data of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "data/loading/sampler.h"

namespace torus::recipes {

class BatchOrder {
 public:
  explicit BatchOrder(const data::Sampler& sampler) : sampler_(sampler) {}

  // Numbers in the dataset of the rows of step `step`'s mini-batch. Threads may call it at once.
  std::vector<int64_t> Of(int64_t step);

 private:
  std::mutex mutex_;
  data::Sampler sampler_;
};

}  // namespace torus::recipes
