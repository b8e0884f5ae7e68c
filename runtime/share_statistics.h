// Statistics that a layer keeps for each micro-batch until the mini-batch ends, and how replicas
// share them.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// Statistics by micro-batch number.
using KeptStatistics = std::map<int, std::vector<Tensor>>;

// Takes the statistics of this replica's micro-batches and returns those of all replicas, numbered
// by position among all micro-batches of the mini-batch. So every replica computes the same result,
// for any number of replicas. All replicas must call it together.
using ShareStatistics = std::function<KeptStatistics(KeptStatistics)>;

}  // namespace torus
