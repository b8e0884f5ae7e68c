// What an op that takes tensors says when it is given an undefined one.
#pragma once

#include <string_view>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace torus {

// Throws BadInput tagged `op` unless the tensor is defined.
inline void RequireDefined(std::string_view op, const Tensor& tensor) {
  Require(tensor.defined(), op, "needs a defined tensor, got an undefined one");
}

}  // namespace torus
