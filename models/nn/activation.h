// Looks up activation functions by their names in configurations.
#pragma once

#include <string>

#include "autograd/variable.h"

namespace torus::nn {

using ActivationFn = Variable (*)(const Variable&);

// Takes transformers' names: gelu, gelu_new (the tanh approximation; also gelu_pytorch_tanh and
// gelu_fast), relu, silu (also swish), tanh, sigmoid. Throws BadInput tagged `where` for other
// names.
ActivationFn ActivationByName(const std::string& name, const std::string& where);

}  // namespace torus::nn
