#include "models/nn/dropout.h"

#include "ops/dropout/dropout.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

double Checked(double probability, const char* layer) {
  Require(probability >= 0 && probability <= 1, layer, "the probability must lie in 0 to 1, got {}",
          probability);
  return probability;
}

}  // namespace

Dropout::Dropout(double probability, uint64_t layer)
    : probability_(Checked(probability, "dropout")), layer_(layer) {}

Variable Dropout::Forward(const Variable& x, const StepContext& ctx) {
  return ops::Dropout(x, probability_, ctx, layer_);
}

Variable Dropout::ForwardAdd(const Variable& x, const Variable& residual,
                             const StepContext& ctx) const {
  return ops::DropoutAdd(x, residual, probability_, ctx, layer_);
}

Dropout2d::Dropout2d(double probability, uint64_t layer)
    : probability_(Checked(probability, "dropout2d")), layer_(layer) {}

Variable Dropout2d::Forward(const Variable& x, const StepContext& ctx) {
  return ops::Dropout2d(x, probability_, ctx, layer_);
}

StochasticDepth::StochasticDepth(double probability, ops::DepthMode mode, uint64_t layer)
    : probability_(Checked(probability, "stochastic_depth")), mode_(mode), layer_(layer) {}

Variable StochasticDepth::Forward(const Variable& x, const StepContext& ctx) {
  return ops::StochasticDepth(x, probability_, mode_, ctx, layer_);
}

}  // namespace torus::nn
