// FlattenImages: images (N, H, W, C) to rows (N, C H W), channels first as in the reference, so
// that the weights of the next linear layer have the reference's order.
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

class FlattenImages : public Module {
 public:
  Variable Forward(const Variable& x, const StepContext& ctx) override;
};

}  // namespace torus::nn
