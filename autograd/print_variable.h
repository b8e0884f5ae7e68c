// Variables as text.
#pragma once

#include <ostream>
#include <string>

#include "autograd/variable.h"

namespace torus {

// The text of its tensor (runtime/print_tensor.h) with "requires_grad=True" for a leaf that
// requires a gradient, or "grad_fn=<mul>" for a result of the op mul: tensor([2.], grad_fn=<mul>).
// An undefined variable is "an undefined variable".
std::string ToString(const Variable& variable);

// ToString, and the type, shape and device behind it:
// tensor([2.], grad_fn=<mul>)  [f32 (1) on cpu]
std::ostream& operator<<(std::ostream& out, const Variable& variable);

}  // namespace torus
