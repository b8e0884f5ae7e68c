// Tensors in memory of the CPU's that GPUs copy from by themselves.
#pragma once

#include "runtime/tensor.h"

namespace torus {

// An uninitialised tensor of the CPU's in pinned memory; in ordinary memory where there is no GPU.
// Its memory goes back to PinnedAllocator() with the last tensor that shares it, so whoever starts
// a copy keeps one until it has ended (Uploader does). BrokenEnvironment when there is no more.
Tensor EmptyPinned(const Shape& shape, DType dtype);

}  // namespace torus
