// FloatScratch: uninitialized memory for floats, from the caching allocator.
#pragma once

#include <span>

#include "runtime/storage.h"

namespace torus::parallel {

class FloatScratch {
 public:
  explicit FloatScratch(size_t count) : count_(count), storage_(sizeof(float) * count, Device{}) {}
  std::span<float> span() { return {static_cast<float*>(storage_.data()), count_}; }

 private:
  size_t count_;
  Storage storage_;
};

}  // namespace torus::parallel
