#include "models/nn/relu.h"

#include "ops/activation/activation.h"

namespace torus::nn {

Variable Relu::Forward(const Variable& x, const StepContext&) { return ops::Relu(x); }

}  // namespace torus::nn
