// Windows of images as rows, and their sums back into images: torch.nn.functional.unfold and fold
// (im2col and col2im), for images (N, H, W, C).
//
// kernel_size, dilation, padding, stride and output_size are {both axes} or {height, width}. Along
// an axis there are (size + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1 windows,
// rounded down. Throws BadInput where there is none, and for sizes that do not fit.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// (N, windows, kernel height * kernel width * C): a row for each window, in row-major order, and in
// it the window's pixels as they lie in memory; zeros where it reaches into the padding. Any dtype.
// (PyTorch has the windows last, and in each the channels first.)
Variable Unfold(const Variable& input, const Dims& kernel_size, const Dims& dilation = {1},
                const Dims& padding = {0}, const Dims& stride = {1});

// The transposed map: an image (N, *output_size, C), each pixel the sum of all windows that hold
// it, in their order. f32 or f64.
Variable Fold(const Variable& input, const Dims& output_size, const Dims& kernel_size,
              const Dims& dilation = {1}, const Dims& padding = {0}, const Dims& stride = {1});

}  // namespace torus::ops
