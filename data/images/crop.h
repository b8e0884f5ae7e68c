// Cutting and mirroring images (H, W, C) of any dtype.
#pragma once

#include "runtime/tensor.h"

namespace torus::data {

// The window of `height` x `width` whose corner is (top, left), as a contiguous copy. What lies
// outside of the image is 0 (black, before normalisation), so that a negative corner pads. BadInput
// tagged [crop] for an empty window.
Tensor Crop(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width);

// The window in the middle; a half is rounded to even, as torchvision does. A larger window pads.
Tensor CenterCrop(const Tensor& image, int64_t height, int64_t width);

// The mirror image, left and right exchanged.
Tensor FlipHorizontal(const Tensor& image);

}  // namespace torus::data
