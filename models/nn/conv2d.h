// Conv2d: a two-dimensional convolution.
#pragma once

#include <cstdint>

#include "models/nn/module.h"
#include "ops/convolution/conv_geometry.h"

namespace torus::nn {

struct Conv2dOptions {
  int64_t in = 0, out = 0;  // channels
  int64_t kernel = 1;       // square
  int64_t stride = 1;
  int64_t padding = 0;  // zeros on each side
  int64_t groups = 1;   // divides both channel counts
  bool bias = false;
  DType dtype = DType::kF32;
};

// Parameters: weight (O, kH, kW, I / groups), kaiming_normal fan_out; bias (O), zeros.
class Conv2d : public Module {
 public:
  explicit Conv2d(const Conv2dOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  LayerCost Cost(const Shape& input) const override;

  // What the op needs to know besides the tensors.
  ops::Conv2dOptions geometry() const;
  const Variable& weight() const { return weight_; }
  const Variable& bias() const { return bias_; }  // undefined without

 private:
  Conv2dOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
