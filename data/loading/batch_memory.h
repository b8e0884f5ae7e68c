// Where the tensors of batches are made.
#pragma once

#include "runtime/tensor.h"

namespace torus::data {

// kPinned is for a run on GPUs, which copy such memory while the CPU continues (runtime/pinned.h).
enum class BatchMemory { kOrdinary, kPinned };

// An uninitialised CPU tensor.
Tensor EmptyIn(BatchMemory memory, const Shape& shape, DType dtype);

}  // namespace torus::data
