// ConvTranspose2d: a transposed two-dimensional convolution.
#pragma once

#include "models/nn/conv2d.h"
#include "models/nn/module.h"
#include "ops/convolution/conv_transpose.h"

namespace torus::nn {

// Defaults are torch.nn.ConvTranspose2d's. Members without a comment are its arguments; dtype is
// that of the parameters.
struct ConvTranspose2dOptions {
  int64_t in = 0, out = 0;  // in_channels, out_channels
  Extent kernel = 1;        // kernel_size
  Extent stride = 1;
  Extent padding = 0;         // taken away from the result on each side
  Extent output_padding = 0;  // added behind its last row and column; below the stride
  int64_t groups = 1;         // divides both channel counts
  bool bias = true;
  Extent dilation = 1;
  Initializer weight_init = {};  // none: PyTorch's, within 1 / sqrt(kH kW O / groups) of zero
  Initializer bias_init = {};    // none: PyTorch's, within the same bound
  DType dtype = DType::kF32;
};

// Parameters: weight (I, kH, kW, O / groups); bias (O) where there is one. Images (N, H, W, I).
class ConvTranspose2d : public Module {
 public:
  explicit ConvTranspose2d(const ConvTranspose2dOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  ops::ConvTranspose2dOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
