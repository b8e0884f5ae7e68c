#include "models/nn/global_average_pool.h"

#include "ops/reduction/reduction.h"
#include "runtime/error.h"

namespace torus::nn {

Variable GlobalAveragePool::Forward(const Variable& x, const StepContext&) {
  Require(x.rank() == 4, "global_average_pool", "needs images (N, H, W, C), got {}",
          ToString(x.shape()));
  return ops::Mean(x, {1, 2});
}

LayerCost GlobalAveragePool::Cost(const Shape& input) const {
  Require(input.rank() == 4, "global_average_pool", "needs images (N, H, W, C), got {}",
          ToString(input));
  const Shape output{input[0], input[3]};
  return {.output = output,
          .activation_bytes = Numel(output) * static_cast<int64_t>(SizeOf(DType::kF32))};
}

}  // namespace torus::nn
