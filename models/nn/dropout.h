// Dropout (Srivastava et al. 2014), scaled during training so that evaluation is the identity.
#pragma once

#include <cstdint>

#include "models/nn/module.h"

namespace torus::nn {

// Drops each element with `probability` while ctx.training. Which elements are dropped depends only
// on (ctx.seed, ctx.step, `layer`, ctx.samples). A model numbers its dropout layers when it is
// built, so every cut and every split into micro-batches and replicas drops the same elements.
class Dropout : public Module {
 public:
  // Throws BadInput for a probability outside of [0, 1].
  Dropout(double probability, uint64_t layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Forward(x, ctx) + residual; on a GPU in one pass.
  // Whether Forward drops anything.
  bool IsActive(const StepContext& ctx) const { return ctx.training && probability_ > 0; }
  Variable ForwardAdd(const Variable& x, const Variable& residual, const StepContext& ctx) const;

 private:
  double probability_;
  uint64_t layer_;
};

}  // namespace torus::nn
