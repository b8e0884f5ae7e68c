// The one way that images are resized: separable, antialiased, with a triangle ("bilinear") filter.
#pragma once

#include "runtime/tensor.h"

namespace torus::data {

// Resizes an image, u8 or f32 (H, W, C), to (height, width, C).
//
// Output pixel j is centred at c = (j + 1/2) s of the input, where s = input size / output size,
// and is the weighted mean of the input pixels around it: with r = max(s, 1), pixel i weighs
// max(0, 1 - |i + 1/2 - c| / r). So shrinking averages over all that a pixel covers, and growing
// interpolates between two neighbours. Rows first, then columns.
//
// This is Pillow's Image.resize(..., BILINEAR), and torchvision's antialiased resize. u8 images are
// computed in fixed point (weights in 22 bits, rounded to u8 after each pass): bit for bit what
// Pillow gives when asked for the width first and then for the height, and within one level of one
// call, which takes the columns first for some sizes.
//
// BadInput tagged [resize] for another dtype or rank, an empty image, or a size below 1.
Tensor Resize(const Tensor& image, int64_t height, int64_t width);

}  // namespace torus::data
