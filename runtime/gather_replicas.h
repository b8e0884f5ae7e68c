// How a layer sees what the other replicas have computed of the same micro-batch.
#pragma once

#include <functional>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// Takes this replica's tensor and gives those of all replicas, in their order, this one's among
// them; all are of its shape, dtype and device. It waits for the others: all replicas call it
// together, as often as each other and in the same order.
using GatherReplicas = std::function<std::vector<Tensor>(const Tensor& own)>;

}  // namespace torus
