#include "models/nn/linear.h"

#include "ops/elementwise/elementwise.h"
#include "ops/matmul/joint_linear.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/linear_plus.h"
#include "runtime/error.h"

namespace torus::nn {

Linear::Linear(const LinearOptions& options) : split_(options.split) {
  Require(options.in >= 1 && options.out >= 1, "linear", "needs at least one feature, got {} -> {}",
          options.in, options.out);
  const auto or_usual = [&](const Initializer& init) {
    return init ? init : UniformFanIn(options.in);
  };
  weight_ = AddParameter("weight", {options.out, options.in}, options.dtype,
                         or_usual(options.weight_init), SplitOfWeight(split_, 0, 1));
  if (!options.bias) return;
  bias_ = AddParameter("bias", {options.out}, options.dtype, or_usual(options.bias_init),
                       SplitOfBias(split_, 1));
}

Variable Linear::Forward(const Variable& x, const StepContext& ctx) {
  RequireValues("linear", x);
  return OutputsOf(split_, bias_, ctx.tensor_ranks,
                   [&](const Variable& bias) { return ops::Linear(x, weight_, bias); });
}

Variable Linear::ForwardAdd(const Variable& x, const Variable& residual, const StepContext& ctx) {
  if (ctx.tensor_ranks.size > 1) return ops::Add(Forward(x, ctx), residual);
  return ops::LinearPlus(x, weight_, bias_, residual, ops::WeightLayout::kOutIn);
}

Variable Linear::ForwardAdd(const Variable& x, const Variable& residual, const Dropout& dropout,
                            const StepContext& ctx) {
  return dropout.IsActive(ctx) ? dropout.ForwardAdd(Forward(x, ctx), residual, ctx)
                               : ForwardAdd(x, residual, ctx);
}

std::vector<Variable> Linear::ForwardJointly(const std::vector<std::shared_ptr<Linear>>& layers,
                                             const Variable& x) {
  std::vector<Variable> weights, biases;
  for (const auto& layer : layers) {
    TORUS_CHECK(layer->split_ != LinearSplit::kInputs, "its outputs are summed over the ranks");
    weights.push_back(layer->weight_);
    biases.push_back(layer->bias_);
  }
  return ops::JointLinear(x, weights, biases);
}

}  // namespace torus::nn
