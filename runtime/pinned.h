// Tensors in pinned CPU memory, which GPUs copy from asynchronously.
#pragma once

#include "runtime/tensor.h"

namespace torus {

// Returns an uninitialised CPU tensor in pinned memory, or in ordinary memory if there is no GPU or
// no thread has used one yet: pinning would then make a context on a GPU that may be another
// process's. The memory returns to PinnedAllocator() with the last tensor that shares it, so
// whoever starts a copy must keep a tensor until the copy is done (Uploader does). Throws
// BrokenEnvironment if there is no memory left.
Tensor EmptyPinned(const Shape& shape, DType dtype);

}  // namespace torus
