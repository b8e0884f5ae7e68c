#include "ops/dropout/part_dropout.h"

#include "autograd/undefined_input.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/elementwise.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

// The input times dropped ones of shape `parts`, which broadcasts to it.
Variable DropParts(const Variable& input, const Shape& parts, double p, const StepContext& context,
                   uint64_t layer) {
  const Variable ones(Full(parts, 1, input.dtype(), input.data().device()));
  const Variable kept = Dropout(ones, p, context, layer);
  return kept == ones ? input : Mul(input, kept);
}

}  // namespace

Variable Dropout2d(const Variable& input, double p, const StepContext& context, uint64_t layer) {
  RequireDefined("dropout2d", input);
  Require(input.rank() == 4, "dropout2d", "needs images (N, H, W, C), got {}", input.shape());
  return DropParts(input, {input.dim(0), 1, 1, input.dim(3)}, p, context, layer);
}

Variable StochasticDepth(const Variable& input, double p, DepthMode mode,
                         const StepContext& context, uint64_t layer) {
  RequireDefined("stochastic_depth", input);
  Require(input.rank() >= 1, "stochastic_depth", "needs at least one dimension, got {}",
          input.shape());
  Shape parts = input.shape();
  for (int d = 1; d < parts.rank(); ++d) parts[d] = 1;
  if (mode == DepthMode::kRow) return DropParts(input, parts, p, context, layer);
  parts[0] = 1;
  StepContext whole = context;
  whole.samples = {0};
  return DropParts(input, parts, p, whole, layer);
}

}  // namespace torus::ops
