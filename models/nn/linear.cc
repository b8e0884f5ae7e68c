#include "models/nn/linear.h"

#include "ops/matmul/linear.h"
#include "runtime/error.h"

namespace torus::nn {

Linear::Linear(const LinearOptions& options) {
  Require(options.in >= 1 && options.out >= 1, "linear", "needs at least one feature, got {} -> {}",
          options.in, options.out);
  weight_ = AddParameter("weight", {options.out, options.in}, options.dtype, options.weight_init);
  if (options.bias) bias_ = AddParameter("bias", {options.out}, options.dtype, options.bias_init);
}

Variable Linear::Forward(const Variable& x, const StepContext&) {
  return ops::Linear(x, weight_, bias_);
}

}  // namespace torus::nn
