// InstanceNorm2d: normalization of each channel of each image (Ulyanov, Vedaldi & Lempitsky 2016).
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

// Defaults are torch.nn.InstanceNorm2d's. Members without a comment are its arguments; dtype is
// that of the parameters.
struct InstanceNorm2dOptions {
  int64_t channels = 0;
  double eps = 1e-5;
  bool affine = false;
  DType dtype = DType::kF32;
};

// Parameters, where affine: weight ones and bias zeros, both (C). Images (N, H, W, C). Has no
// running statistics, which PyTorch's layer has only if asked: training and evaluation are alike.
class InstanceNorm2d : public Module {
 public:
  explicit InstanceNorm2d(const InstanceNorm2dOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  InstanceNorm2dOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
