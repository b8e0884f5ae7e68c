// Max pooling over images (N, H, W, C), as torch.nn.functional.max_pool2d.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// PyTorch's arguments and defaults; each one number for both axes or (height, width).
struct MaxPool2dOptions {
  Dims kernel_size;
  Dims stride{};  // empty: the kernel size
  Dims padding{0};
  Dims dilation{1};
  bool ceil_mode = false;
};

// The largest of each window; padding never wins. f32 or f64. The first of equals gets the
// gradient; NaN wins over all. BadInput tagged max_pool2d for arguments that PyTorch refuses.
Variable MaxPool2d(const Variable& input, const MaxPool2dOptions& options);

struct MaxPoolResult {
  Variable output;
  // i64 (N, H', W', C): y * W + x of each winner in the input plane. A dilated window that lies in
  // the padding alone has none: its output is -infinity, its index -1 (PyTorch's lies outside of
  // the plane), and no pixel gets its gradient.
  Tensor indices;
};

// The same with the winners' places (return_indices).
MaxPoolResult MaxPool2dWithIndices(const Variable& input, const MaxPool2dOptions& options);

}  // namespace torus::ops
