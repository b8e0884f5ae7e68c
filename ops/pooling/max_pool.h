// Max pooling over images (N, H, W, C), as torch.nn.functional.max_pool2d.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// PyTorch's arguments and defaults. Dims are {both axes} or {height, width}. Members without a
// comment are those.
struct MaxPool2dOptions {
  Dims kernel_size = {};
  Dims stride{};  // empty: the kernel size
  Dims padding{0};
  Dims dilation{1};
  bool ceil_mode = false;
};

// The largest value of each window; padding does not count, and NaN counts as largest. f32 or f64.
// Of equal values, the first gets the gradient. Throws BadInput tagged max_pool2d for arguments
// that PyTorch refuses.
Variable MaxPool2d(const Variable& input, const MaxPool2dOptions& options);

// Maxima and where they stand.
struct MaxPoolResult {
  Variable output;  // as MaxPool2d gives it
  // i64 (N, H', W', C): position y * W + x of each maximum in the input image. A dilated window may
  // cover only padding: its output is -infinity, its index -1 (PyTorch's is outside of the image),
  // and no pixel gets its gradient.
  Tensor indices;
};

// The same with the positions of the maxima (return_indices).
MaxPoolResult MaxPool2dWithIndices(const Variable& input, const MaxPool2dOptions& options);

}  // namespace torus::ops
