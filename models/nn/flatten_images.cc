#include "models/nn/flatten_images.h"

#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::nn {

Variable FlattenImages::Forward(const Variable& x, const StepContext&) {
  Require(x.rank() == 4, "flatten", "needs images (N, H, W, C), got {}", x.shape());
  return ops::Flatten(ops::Permute(x, {0, 3, 1, 2}), 1);
}

}  // namespace torus::nn
