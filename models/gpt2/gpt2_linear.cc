#include "models/gpt2/gpt2_linear.h"

#include "ops/elementwise/elementwise.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/linear_plus.h"
#include "runtime/error.h"

namespace torus {

Gpt2Linear::Gpt2Linear(const Gpt2LinearOptions& o) : split_(o.split) {
  weight_ = AddParameter("weight", {o.in, o.out}, o.dtype, nn::Normal(0, o.stddev),
                         nn::SplitOfWeight(split_, 1, o.groups));
  if (!o.bias) return;
  bias_ =
      AddParameter("bias", {o.out}, o.dtype, nn::Constant(0), nn::SplitOfBias(split_, o.groups));
}

Variable Gpt2Linear::Forward(const Variable& x, const StepContext& ctx) {
  return nn::OutputsOf(split_, bias_, ctx.tensor_ranks,
                       [&](const Variable& bias) { return ops::LinearInOut(x, weight_, bias); });
}

Variable Gpt2Linear::ForwardAdd(const Variable& x, const Variable& residual,
                                const StepContext& ctx) {
  if (ctx.tensor_ranks.size > 1) return ops::Add(Forward(x, ctx), residual);
  return ops::LinearPlus(x, weight_, bias_, residual, ops::WeightLayout::kInOut);
}

Variable Gpt2Linear::ForwardAdd(const Variable& x, const Variable& residual,
                                const nn::Dropout& dropout, const StepContext& ctx) {
  return dropout.IsActive(ctx) ? dropout.ForwardAdd(Forward(x, ctx), residual, ctx)
                               : ForwardAdd(x, residual, ctx);
}

}  // namespace torus
