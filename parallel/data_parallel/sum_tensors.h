// What tensor parallelism asks of the transport between its ranks.
#pragma once

#include <string>

#include "parallel/collectives/all_reduce.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Called by all ranks of `ranks` together, with floating tensors of one shape and dtype: returns
// their sum, the same bits on all, on the device of `own` in memory of its own. 16-bit floats are
// summed as f32 and rounded once. `what` stands in the errors.
//
// `engine`: of all `ranks`, for tensors in memory that it sums (NCCL that of GPUs): the sum is made
// where they lie, in the order of the library, which makes each element's once and copies it. On a
// GPU nothing waits for it but the current stream. Null: it is a direct all-reduce (direct.h) in a
// CPU's memory.
Tensor SumTensors(Transport& ranks, const Tensor& own, const std::string& what,
                  Engine* engine = nullptr);

}  // namespace torus::parallel
