#include "models/nn/global_average_pool.h"

#include "ops/reduction/reduction.h"
#include "runtime/error.h"

namespace torus::nn {

Variable GlobalAveragePool::Forward(const Variable& x, const StepContext&) {
  Require(x.rank() == 4, "global_average_pool", "needs images (N, H, W, C), got {}", x.shape());
  return ops::Mean(x, {1, 2});
}

}  // namespace torus::nn
