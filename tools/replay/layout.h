// Differentiable conversions between PyTorch's layout and ours. The gradient of a leaf has the
// leaf's own layout.
#pragma once

#include "autograd/variable.h"

namespace torus::replay {

// (N, C, H, W) to (N, H, W, C) for any rank of at least 2; a convolution weight (O, I, kH, kW) to
// (O, kH, kW, I).
Variable ToChannelsLast(const Variable& x);
// The inverse of ToChannelsLast.
Variable ToChannelsFirst(const Variable& x);

// Turns an image (C, H, W) into a batch of one; returns a batch (N, C, H, W) unchanged.
Variable WithBatch(const Variable& image);
// Removes the batch dimension of `result` again if `image` had none.
Variable LikeInput(const Variable& result, const Variable& image);

}  // namespace torus::replay
