// What synchronised batch norm asks of the replicas' transport.
#pragma once

#include <string>
#include <vector>

#include "parallel/collectives/rows.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Called by all ranks of `replicas` together, with tensors of one shape and dtype: returns those of
// all, in rank order, on the device of `own`. Each rank sends its own to all others. `what` stands
// in the errors.
std::vector<Tensor> GatherTensors(Transport& replicas, const Tensor& own, const std::string& what);

}  // namespace torus::parallel
