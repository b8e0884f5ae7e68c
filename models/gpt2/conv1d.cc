#include "models/gpt2/conv1d.h"

#include "ops/matmul/linear.h"
#include "runtime/error.h"

namespace torus {

Conv1d::Conv1d(const Conv1dOptions& o) : options_(o) {
  weight_ = AddParameter("weight", {o.in, o.out}, o.dtype, nn::Normal(0, o.stddev));
  if (o.bias) bias_ = AddParameter("bias", {o.out}, o.dtype, nn::Constant(0));
}

Variable Conv1d::Forward(const Variable& x, const StepContext&) {
  return ops::LinearInOut(x, weight_, bias_);
}

nn::LayerCost Conv1d::Cost(const Shape& input) const {
  Require(input.rank() >= 1 && input[input.rank() - 1] == options_.in, "conv1d",
          "needs (..., {}), got {}", options_.in, ToString(input));
  Shape output = input;
  output[input.rank() - 1] = options_.out;
  return {.output = output,
          .flops = 2 * options_.in * Numel(output),
          .activation_bytes = Numel(output) * static_cast<int64_t>(SizeOf(options_.dtype))};
}

}  // namespace torus
