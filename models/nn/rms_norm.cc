#include "models/nn/rms_norm.h"

#include "ops/layer_norm/rms_norm.h"
#include "runtime/error.h"

namespace torus::nn {

RmsNorm::RmsNorm(const RmsNormOptions& options) : options_(options) {
  Require(options.width >= 1, "rms_norm", "needs at least one feature, got {}", options.width);
  if (options.elementwise_affine)
    weight_ = AddParameter("weight", {options.width}, options.dtype, Constant(1));
}

Variable RmsNorm::Forward(const Variable& x, const StepContext&) {
  RequireValues("rms_norm", x);
  return ops::RmsNorm(x, {options_.width}, weight_, options_.eps);
}

}  // namespace torus::nn
