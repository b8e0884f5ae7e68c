// Modules as text.
#pragma once

#include <string>

#include "models/nn/module.h"

namespace torus::nn {

// A line for each parameter and each buffer, in the order of the module, with its name, type and
// shape, and a last line with the number of all parameters' elements.
//
//   0.weight   f32 (64, 1)
//   0.bias     f32 (64)
//   128 parameters
std::string ToString(const Module& module);

}  // namespace torus::nn
