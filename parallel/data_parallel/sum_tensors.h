// What tensor parallelism asks of the transport between its ranks.
#pragma once

#include <string>

#include "parallel/transport/transport.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Called by all ranks of `ranks` together, with floating tensors of one shape and dtype: returns
// their sum, the same bits on all, on the device of `own` in memory of its own. It is a direct
// all-reduce (direct.h) in a CPU's memory; 16-bit floats are summed as f32 and rounded once. `what`
// stands in the errors.
Tensor SumTensors(Transport& ranks, const Tensor& own, const std::string& what);

}  // namespace torus::parallel
