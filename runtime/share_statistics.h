// What a layer keeps of each micro-batch until the mini-batch ends, and how replicas share it.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// By number of the micro-batch.
using KeptStatistics = std::map<int, std::vector<Tensor>>;

// Takes those of this replica's micro-batches and gives those of all replicas', numbered through
// the list of all micro-batches of the mini-batch: so every replica comes to the same figures,
// however many there are. All replicas call it together.
using ShareStatistics = std::function<KeptStatistics(KeptStatistics)>;

}  // namespace torus
