// Communication among the ranks that compute each layer together (tensor parallelism).
#pragma once

#include <functional>
#include <vector>

#include "runtime/tensor.h"
#include "runtime/tensor_split.h"

namespace torus {

// Collectives: all ranks must call them equally often and in the same order; they wait for each
// other. Do not call them for tensors on meta. If a forward calls one, its backward may keep it.
// Both are empty if there is only one rank.
struct TensorRanks : TensorPlace {
  // All-reduce: takes this rank's tensor (floating) and returns the sum over all ranks in new
  // memory, with the same bits on all ranks. Shapes and dtypes must agree.
  std::function<Tensor(const Tensor& own)> sum;
  // All-gather: takes this rank's tensor and returns those of all ranks, in rank order.
  std::function<std::vector<Tensor>(const Tensor& own)> gather;
};

}  // namespace torus
