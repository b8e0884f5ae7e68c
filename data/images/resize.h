// Resizes images: separable and antialiased, with a triangle ("bilinear") filter.
#pragma once

#include "runtime/tensor.h"

namespace torus::data {

// Resizes an image, u8 or f32 (H, W, C), to (height, width, C).
//
// Output pixel j is centred at c = (j + 1/2) s in the input, where s = input size / output size. It
// is the weighted mean of the input pixels around it: with r = max(s, 1), pixel i has weight max(0,
// 1 - |i + 1/2 - c| / r). So shrinking averages over the whole area of an output pixel, and
// enlarging interpolates between two neighbours. Rows first, then columns.
//
// This is Pillow's Image.resize(..., BILINEAR), and torchvision's antialiased resize. u8 images are
// computed in fixed point (22-bit weights, rounded to u8 after each pass). The result has the bits
// of Pillow if it resizes first the width and then the height in two calls. It is within one level
// of a single Pillow call, which starts with the columns for some sizes.
//
// Throws BadInput tagged [resize] for another dtype or rank, an empty image, or a size below 1.
Tensor Resize(const Tensor& image, int64_t height, int64_t width);

}  // namespace torus::data
