#include "models/nn/batch_norm1d.h"

#include "runtime/error.h"

namespace torus::nn {

Variable BatchNorm1d::Forward(const Variable& x, const StepContext& ctx) {
  Require(x.rank() == 2 || x.rank() == 3, "batch_norm", "needs (N, C) or (N, L, C), got {}",
          x.shape());
  return BatchNorm2d::Forward(x, ctx);
}

}  // namespace torus::nn
