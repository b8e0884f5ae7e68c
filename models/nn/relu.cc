#include "models/nn/relu.h"

#include "ops/activation/activation.h"

namespace torus::nn {

Variable Relu::Forward(const Variable& x, const StepContext&) { return ops::Relu(x); }

LayerCost Relu::Cost(const Shape& input) const {
  return {.output = input,
          .activation_bytes = Numel(input) * static_cast<int64_t>(SizeOf(DType::kF32))};
}

}  // namespace torus::nn
