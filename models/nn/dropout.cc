#include "models/nn/dropout.h"

#include "ops/dropout/dropout.h"
#include "runtime/error.h"

namespace torus::nn {

Dropout::Dropout(double probability, uint64_t layer) : probability_(probability), layer_(layer) {
  Require(probability >= 0 && probability <= 1, "dropout",
          "the probability must lie in 0 to 1, got {}", probability);
}

Variable Dropout::Forward(const Variable& x, const StepContext& ctx) {
  return ops::Dropout(x, probability_, ctx, layer_);
}

Variable Dropout::ForwardAdd(const Variable& x, const Variable& residual,
                             const StepContext& ctx) const {
  return ops::DropoutAdd(x, residual, probability_, ctx, layer_);
}

}  // namespace torus::nn
