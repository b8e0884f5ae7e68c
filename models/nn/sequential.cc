#include "models/nn/sequential.h"

namespace torus::nn {

Variable Sequential::Forward(const Variable& x, const StepContext& ctx) {
  return ForwardAll({x}, ctx)[0];
}

std::vector<Variable> Sequential::ForwardAll(const std::vector<Variable>& inputs,
                                             const StepContext& ctx) {
  std::vector<Variable> y = inputs;
  for (const Layer& layer : layers()) y = layer.module->ForwardAll(y, ctx);
  return y;
}

}  // namespace torus::nn
