// What becomes of two values that meet in one place, for the kernels of all devices.
#pragma once

#include "ops/elementwise/elementwise_functors.h"

namespace torus::ops {

struct AddTo {
  template <class T>
  TORUS_HOST_DEVICE void operator()(T& to, T value) const {
    to = AddFunctor()(to, value);
  }
};

struct WriteTo {
  template <class T>
  TORUS_HOST_DEVICE void operator()(T& to, T value) const {
    to = value;
  }
};

}  // namespace torus::ops
