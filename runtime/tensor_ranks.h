// How a layer talks to the other ranks that compute it together with this one (tensor parallelism).
#pragma once

#include <functional>
#include <vector>

#include "runtime/tensor.h"
#include "runtime/tensor_split.h"

namespace torus {

// Every rank calls these together with the others, as often and in the same order; they wait for
// each other. Not to be called for tensors on meta. Kept by the backward of what called them in its
// forward. Of one rank alone both are empty.
struct TensorRanks : TensorPlace {
  // Takes this rank's tensor (floating) and gives the sum over all ranks in memory of its own: the
  // same bits on all of them. Shapes and dtypes agree.
  std::function<Tensor(const Tensor& own)> sum;
  // Takes this rank's and gives those of all ranks, in their order.
  std::function<std::vector<Tensor>(const Tensor& own)> gather;
};

}  // namespace torus
