// LayerNorm: normalization over the last dimension (Ba, Kiros & Hinton 2016).
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

// Defaults are torch.nn.LayerNorm's, of a last dimension of `width`. Members without a comment are
// its arguments; dtype is that of the parameters.
struct LayerNormOptions {
  int64_t width = 0;  // normalized_shape
  double eps = 1e-5;
  bool bias = true;
  DType dtype = DType::kF32;
};

// Parameters: weight ones, and bias zeros where there is one, both (width). Input (..., width).
class LayerNorm : public Module {
 public:
  explicit LayerNorm(const LayerNormOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

  // Read by fused ops.
  const LayerNormOptions& options() const { return options_; }
  const Variable& weight() const { return weight_; }  // (width)
  const Variable& bias() const { return bias_; }      // undefined without

 private:
  LayerNormOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
