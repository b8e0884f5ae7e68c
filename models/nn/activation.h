// Activation functions by their names in configurations.
#pragma once

#include <string>

#include "autograd/variable.h"

namespace torus::nn {

using ActivationFn = Variable (*)(const Variable&);

// transformers' names: gelu, gelu_new (by tanh; also gelu_pytorch_tanh and gelu_fast), relu, silu
// (also swish), tanh, sigmoid. BadInput tagged `where` for another.
ActivationFn ActivationByName(const std::string& name, const std::string& where);

}  // namespace torus::nn
