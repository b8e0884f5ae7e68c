// Gathers tensors of all replicas, for synchronised batch norm.
#pragma once

#include <string>
#include <vector>

#include "parallel/collectives/rows.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// All ranks of `replicas` call it together, with tensors of one shape and dtype. Returns those of
// all, in rank order, on the device of `own`. Each rank sends its own to all others. `what` is used
// in errors.
std::vector<Tensor> GatherTensors(Transport& replicas, const Tensor& own, const std::string& what);

}  // namespace torus::parallel
