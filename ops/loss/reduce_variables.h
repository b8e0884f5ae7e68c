// What the losses between real numbers share.
#pragma once

#include <optional>
#include <string_view>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "autograd/variable.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/loss/loss_reduction.h"
#include "ops/reduction/reduction.h"

namespace torus::ops {

inline Variable Reduce(const Variable& losses, LossReduction reduction) {
  if (reduction == LossReduction::kNone) return losses;
  return reduction == LossReduction::kMean ? Mean(losses) : Sum(losses);
}

// max(x, least) with the gradient of x alone.
inline Variable AtLeast(const Variable& x, double least) {
  return Record("clamp", Clamp(x.Detach(), least, std::nullopt).data(), {x},
                [](const GradContext& g) { return Gradients{g.grad()}; });
}

// Throws BadInput unless both have one shape. A loss never broadcasts: that of (8, 1) and (8) would
// be of 64 pairs, which nobody means.
inline void RequireOneShape(std::string_view op, const char* first, const Variable& a,
                            const char* second, const Variable& b) {
  RequireDefined(op, a, b);
  Require(a.shape() == b.shape(), op,
          "needs {} and {} of one shape, got {} and {}; reshape or expand one of them", first,
          second, a.shape(), b.shape());
}

}  // namespace torus::ops
