// GroupNorm: normalization of each sample's groups of channels (Wu & He 2018).
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

// Defaults are torch.nn.GroupNorm's. Members without a comment are its arguments; dtype is that of
// the parameters.
struct GroupNormOptions {
  int64_t groups = 0, channels = 0;  // num_groups, which divide num_channels
  double eps = 1e-5;
  bool affine = true;
  DType dtype = DType::kF32;
};

// Parameters, where affine: weight ones and bias zeros, both (C). Input (N, ..., C).
class GroupNorm : public Module {
 public:
  explicit GroupNorm(const GroupNormOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  GroupNormOptions options_;
  Variable weight_, bias_;
};

}  // namespace torus::nn
