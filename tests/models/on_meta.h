// Inputs that have shapes and no memory.
#pragma once

#include "autograd/variable.h"

namespace torus {

inline Variable OnMeta(const Shape& shape, DType dtype = DType::kF32) {
  return Variable(Empty(shape, dtype, kMetaDevice));
}

}  // namespace torus
