// FlattenImages: images (N, H, W, C) to rows (N, C H W), in the reference's order of channels
// first, so that the linear layer behind needs no layout of its own.
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

class FlattenImages : public Module {
 public:
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  LayerCost Cost(const Shape& input) const override;
};

}  // namespace torus::nn
