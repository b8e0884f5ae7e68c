// The plans of products that were made so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "ops/cuda/gemm_shape.h"

namespace torus::cuda {

// Of a bounded number of products; when full, it is cleared. Thread-safe.
template <class Plan>
class GemmPlans {
 public:
  explicit GemmPlans(size_t most) : most_(most) {}

  // Returns the plan of the product that follows the choices with this id (Plans::id), from
  // make() if there is none yet.
  template <class Make>
  Plan Get(uint64_t choices, const GemmShape& shape, const Make& make) {
    const Key key{choices, shape};
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
    }
    // Without the lock: it may wait for a GPU, and so for other ranks.
    const Plan made = make();
    const std::lock_guard lock(mutex_);
    if (plans_.size() >= most_) plans_.clear();
    return plans_.emplace(key, made).first->second;
  }

 private:
  using Key = std::pair<uint64_t, GemmShape>;

  const size_t most_;
  std::mutex mutex_;
  std::map<Key, Plan> plans_;
};

}  // namespace torus::cuda
