// RmsNorm: division by the root mean square over the last dimension (Zhang & Sennrich 2019).
#pragma once

#include <optional>

#include "models/nn/module.h"

namespace torus::nn {

// Defaults are torch.nn.RMSNorm's, of a last dimension of `width`. Members without a comment are
// its arguments; dtype is that of the parameters.
struct RmsNormOptions {
  int64_t width = 0;               // normalized_shape
  std::optional<double> eps = {};  // none: the machine epsilon of what is summed (ops::RmsNorm)
  bool elementwise_affine = true;
  DType dtype = DType::kF32;
};

// Parameter: weight (width), ones, where elementwise_affine. Input (..., width).
class RmsNorm : public Module {
 public:
  explicit RmsNorm(const RmsNormOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

  // Read by fused ops, as is weight.
  const RmsNormOptions& options() const { return options_; }
  const Variable& weight() const { return weight_; }  // undefined without

 private:
  RmsNormOptions options_;
  Variable weight_;
};

}  // namespace torus::nn
