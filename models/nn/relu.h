// Relu: max(x, 0).
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

class Relu : public Module {
 public:
  Variable Forward(const Variable& x, const StepContext& ctx) override;
};

}  // namespace torus::nn
