#include "models/nn/linear.h"

#include "ops/matmul/linear.h"
#include "runtime/error.h"

namespace torus::nn {

Linear::Linear(const LinearOptions& options) : options_(options) {
  Require(options.in >= 1 && options.out >= 1, "linear", "needs at least one feature, got {} -> {}",
          options.in, options.out);
  weight_ = AddParameter("weight", {options.out, options.in}, options.dtype, options.weight_init);
  if (options.bias) bias_ = AddParameter("bias", {options.out}, options.dtype, options.bias_init);
}

Variable Linear::Forward(const Variable& x, const StepContext&) {
  return ops::Linear(x, weight_, bias_);
}

LayerCost Linear::Cost(const Shape& input) const {
  Require(input.rank() >= 1 && input[input.rank() - 1] == options_.in, "linear",
          "needs (..., {}), got {}", options_.in, ToString(input));
  Shape output = input;
  output[input.rank() - 1] = options_.out;
  return {.output = output,
          .flops = 2 * options_.in * Numel(output),
          .activation_bytes = Numel(output) * static_cast<int64_t>(SizeOf(options_.dtype))};
}

}  // namespace torus::nn
