// How a layer gets the tensors that the other replicas computed for the same micro-batch.
#pragma once

#include <functional>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// An all-gather: takes this replica's tensor and returns those of all replicas in order, including
// this one's. All have the same shape, dtype and device. It waits for the other replicas: all must
// call it equally often and in the same order.
using GatherReplicas = std::function<std::vector<Tensor>(const Tensor& own)>;

}  // namespace torus
