#include "models/nn/layer_norm.h"

#include "ops/layer_norm/layer_norm.h"
#include "runtime/error.h"

namespace torus::nn {

LayerNorm::LayerNorm(const LayerNormOptions& options) : options_(options) {
  Require(options.width >= 1, "layer_norm", "needs at least one feature, got {}", options.width);
  weight_ = AddParameter("weight", {options.width}, options.dtype, Constant(1));
  if (options.bias) bias_ = AddParameter("bias", {options.width}, options.dtype, Constant(0));
}

Variable LayerNorm::Forward(const Variable& x, const StepContext&) {
  RequireValues("layer_norm", x);
  return ops::LayerNorm(x, {options_.width}, weight_, bias_, options_.eps);
}

}  // namespace torus::nn
