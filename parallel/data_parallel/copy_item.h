// One copy of many, as they are asked of a device together.
#pragma once

#include "runtime/tensor.h"

namespace torus::parallel {

// `to` becomes `from`; where that is undefined, `value` in every element. Both are contiguous, of
// one dtype (f32 or f64) and as many elements.
struct CopyItem {
  Tensor from, to;
  double value = 0;
};

}  // namespace torus::parallel
