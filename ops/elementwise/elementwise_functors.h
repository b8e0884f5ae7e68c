// The arithmetic of the binary ops, one element at a time; the same bodies run on CPU and GPU.
#pragma once

#include <cmath>

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

// NaN wins.
struct MaximumFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return (a != a) | (a > b) ? a : b;
  }
};

struct MinimumFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return (a != a) | (a < b) ? a : b;
  }
};

struct PowFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return std::pow(a, b);
  }
};

struct EqualFunctor {
  template <class T>
  TORUS_HOST_DEVICE bool operator()(T a, T b) const {
    return a == b;
  }
};

struct LessFunctor {
  template <class T>
  TORUS_HOST_DEVICE bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqualFunctor {
  template <class T>
  TORUS_HOST_DEVICE bool operator()(T a, T b) const {
    return a <= b;
  }
};

}  // namespace torus::ops
