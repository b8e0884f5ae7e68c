// The arithmetic of the binary ops, one element at a time; the same bodies run on CPU and GPU.
#pragma once

#include "ops/elementwise/host_device.h"

namespace torus::ops {

struct AddFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

struct SubFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a - b;
  }
};

struct MulFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a * b;
  }
};

struct DivFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};

}  // namespace torus::ops
