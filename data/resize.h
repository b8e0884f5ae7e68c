// The one way that images are resized: separable, antialiased, with a triangle ("bilinear") filter.
#pragma once

#include "runtime/tensor.h"

namespace torus::data {

// Resizes an image, u8 or f32 (H, W, C), to (height, width, C).
//
// Output pixel j is centred at c = (j + 1/2) s of the input, s = input size / output size, and is
// the weighted mean of the input pixels around it: pixel i weighs max(0, 1 - |i + 1/2 - c| / r), r
// = max(s, 1). So shrinking averages over all that a pixel covers, and growing interpolates between
// two neighbours. Rows first, then columns.
//
// This is Pillow's Image.resize(..., BILINEAR), and torchvision's antialiased resize. u8 images are
// computed as Pillow does, in fixed point (weights in 22 bits, rounded to u8 after each pass), and
// give its bits. BadInput tagged [resize] for another dtype or rank, an empty image, or a size
// below 1.
Tensor Resize(const Tensor& image, int64_t height, int64_t width);

}  // namespace torus::data
