#include "models/nn/flatten_images.h"

#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::nn {

Variable FlattenImages::Forward(const Variable& x, const StepContext&) {
  Require(x.rank() == 4, "flatten", "needs images (N, H, W, C), got {}", ToString(x.shape()));
  return ops::Flatten(ops::Permute(x, {0, 3, 1, 2}), 1);
}

LayerCost FlattenImages::Cost(const Shape& input) const {
  Require(input.rank() == 4, "flatten", "needs images (N, H, W, C), got {}", ToString(input));
  const Shape output{input[0], input[1] * input[2] * input[3]};
  return {.output = output,
          .activation_bytes = Numel(output) * static_cast<int64_t>(SizeOf(DType::kF32))};
}

}  // namespace torus::nn
