// One of many copies that a device makes together.
#pragma once

#include "runtime/tensor.h"

namespace torus::parallel {

// Copies `from` to `to`; if `from` is undefined, sets every element to `value`. Both are
// contiguous, of one dtype (f32 or f64) and equally many elements.
struct CopyItem {
  Tensor from, to;
  double value = 0;
};

}  // namespace torus::parallel
