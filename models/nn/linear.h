// Linear: x W^T + b.
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

struct LinearOptions {
  int64_t in = 0, out = 0;
  Initializer weight_init = Normal(0, 0.01);
  DType dtype = DType::kF32;
};

// Parameters: weight (out, in), bias (out), zeros. Input (..., in).
class Linear : public Module {
 public:
  explicit Linear(const LinearOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  LayerCost Cost(const Shape& input) const override;

 private:
  LinearOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
