#include "models/amoebanet/classifier.h"

namespace torus::amoebanet {

Classifier::Classifier(int64_t channels, int64_t classes, DType dtype)
    : linear_(AddChild("fc", std::make_shared<nn::Linear>(nn::LinearOptions{
                                 .in = channels, .out = classes, .dtype = dtype}))) {}

Variable Classifier::Forward(const Variable& x, const StepContext& ctx) {
  return linear_->Forward(pool_.Forward(x, ctx), ctx);
}

std::vector<Variable> Classifier::ForwardAll(const std::vector<Variable>& inputs,
                                             const StepContext& ctx) {
  return {Forward(inputs[0], ctx)};
}

}  // namespace torus::amoebanet
