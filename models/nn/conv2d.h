// Conv2d: a two-dimensional convolution.
#pragma once

#include <cstdint>

#include "models/nn/module.h"
#include "ops/convolution/conv_geometry.h"

namespace torus::nn {

// One size for both axes, or (height, width).
struct Extent {
  int64_t h, w;                               // height and width
  Extent(int64_t both) : h(both), w(both) {}  // NOLINT: converts on purpose
  Extent(int64_t height, int64_t width) : h(height), w(width) {}
  Dims dims() const { return {h, w}; }  // as ops take them
};

// Defaults are torch.nn.Conv2d's. Members without a comment are its arguments; dtype is that of the
// parameters.
struct Conv2dOptions {
  int64_t in = 0, out = 0;  // in_channels, out_channels
  Extent kernel = 1;        // kernel_size
  Extent stride = 1;
  Extent padding = 0;  // zeros on each side
  Extent dilation = 1;
  int64_t groups = 1;  // divides both channel counts
  bool bias = true;
  Initializer weight_init = {};  // none: PyTorch's, within 1 / sqrt(kH kW I / groups) of zero
  Initializer bias_init = {};    // none: PyTorch's, within the same bound
  DType dtype = DType::kF32;
};

// Parameters: weight (O, kH, kW, I / groups); bias (O) where there is one.
class Conv2d : public Module {
 public:
  explicit Conv2d(const Conv2dOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

  // Stride, padding, dilation and groups as the op takes them.
  ops::Conv2dOptions geometry() const;
  // Read by fused ops, as is bias.
  const Variable& weight() const { return weight_; }
  const Variable& bias() const { return bias_; }  // undefined without

 private:
  Conv2dOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
