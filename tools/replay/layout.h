// Between PyTorch's layout of a case and ours, differentiably: gradients of a leaf come out in the
// layout it went in with.
#pragma once

#include "autograd/variable.h"

namespace torus::replay {

// (N, C, H, W) to (N, H, W, C) for any rank of at least 2; a convolution weight (O, I, kH, kW) to
// (O, kH, kW, I).
Variable ToChannelsLast(const Variable& x);
// Back.
Variable ToChannelsFirst(const Variable& x);

// A batch of one from an image (C, H, W); (N, C, H, W) as it is.
Variable WithBatch(const Variable& image);
// Drops the batch again from the result where `image` had none.
Variable LikeInput(const Variable& result, const Variable& image);

}  // namespace torus::replay
