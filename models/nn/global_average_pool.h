// GlobalAveragePool: images (N, H, W, C) to rows (N, C).
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

class GlobalAveragePool : public Module {
 public:
  Variable Forward(const Variable& x, const StepContext& ctx) override;
};

}  // namespace torus::nn
