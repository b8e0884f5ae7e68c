// Sums tensors over the ranks of tensor parallelism.
#pragma once

#include <string>

#include "parallel/collectives/all_reduce.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// All ranks of `ranks` call it together, with floating-point tensors of one shape and dtype.
// Returns their sum, with the same bits on all ranks, in new memory on the device of `own`. 16-bit
// floats are summed as f32 and rounded once. `what` is used in errors.
//
// `engine`: connects all `ranks` and sums in the tensors' memory (NCCL: in GPU memory), in the
// library's order; it computes each element once and copies it. Only the GPU's current stream waits
// for it. Null: a direct all-reduce (direct.h) in CPU memory.
Tensor SumTensors(Transport& ranks, const Tensor& own, const std::string& what,
                  Engine* engine = nullptr);

}  // namespace torus::parallel
