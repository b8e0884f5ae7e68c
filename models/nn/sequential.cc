#include "models/nn/sequential.h"

namespace torus::nn {

Variable Sequential::Forward(const Variable& x, const StepContext& ctx) {
  Variable y = x;
  for (const Layer& layer : layers()) y = layer.module->Forward(y, ctx);
  return y;
}

LayerCost Sequential::Cost(const Shape& input) const {
  LayerCost cost{.output = input};
  for (const Layer& layer : layers()) cost = cost.Then(layer.module->Cost(cost.output));
  return cost;
}

}  // namespace torus::nn
