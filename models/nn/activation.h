// Looks up activation functions by their names in configurations.
#pragma once

#include <string>

#include "autograd/variable.h"

namespace torus::nn {

// An activation function, element by element.
using ActivationFn = Variable (*)(const Variable&);

// Takes transformers' names: gelu (also gelu_python), gelu_new (the tanh approximation; also
// gelu_pytorch_tanh, gelu_python_tanh, gelu_fast and gelu_accurate), quick_gelu (x sigmoid(1.702
// x)), relu, silu (also swish), tanh, sigmoid. Throws BadInput tagged `where` for other names.
ActivationFn ActivationByName(const std::string& name, const std::string& where);

}  // namespace torus::nn
