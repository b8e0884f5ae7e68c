// Conv1d: a convolution of sequences.
#pragma once

#include "models/nn/module.h"
#include "ops/convolution/conv1d.h"

namespace torus::nn {

// Defaults are torch.nn.Conv1d's. Members without a comment are its arguments; dtype is that of the
// parameters.
struct Conv1dOptions {
  int64_t in = 0, out = 0;  // in_channels, out_channels
  int64_t kernel = 1;       // kernel_size
  int64_t stride = 1;
  int64_t padding = 0;  // zeros on each side
  int64_t dilation = 1;
  int64_t groups = 1;  // divides both channel counts
  bool bias = true;
  Initializer weight_init = {};  // none: PyTorch's, within 1 / sqrt(k I / groups) of zero
  Initializer bias_init = {};    // none: PyTorch's, within the same bound
  DType dtype = DType::kF32;
};

// Parameters: weight (O, k, I / groups); bias (O) where there is one. Sequences (N, L, I).
class Conv1d : public Module {
 public:
  explicit Conv1d(const Conv1dOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  ops::Conv1dOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
