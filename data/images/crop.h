// Crops and flips images (H, W, C) of any dtype.
#pragma once

#include "runtime/tensor.h"

namespace torus::data {

// The window of `height` x `width` at corner (top, left), as a contiguous copy. Pixels outside of
// the image are 0 (black, before normalisation), so a negative corner pads. Throws BadInput tagged
// [crop] for an empty window.
Tensor Crop(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width);

// The centred window; half pixels are rounded to even, as in torchvision. A window larger than the
// image pads.
Tensor CenterCrop(const Tensor& image, int64_t height, int64_t width);

// The image with left and right exchanged.
Tensor FlipHorizontal(const Tensor& image);

}  // namespace torus::data
