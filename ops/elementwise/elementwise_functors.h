// The arithmetic of the binary ops for one element; the same code runs on CPU and GPU.
#pragma once

#include <cmath>

#include "runtime/host_device.h"

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

struct TruncDivFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    return std::trunc(a / b);
  }
};

// Computed from the exact remainder, as in Python, because a / b may round up to the next integer.
struct FloorDivFunctor {
  template <class T>
  TORUS_HOST_DEVICE T operator()(T a, T b) const {
    if (b == T(0)) return a / b;
    const T rest = std::fmod(a, b);
    const T down = rest != T(0) && (b < T(0)) != (rest < T(0)) ? T(1) : T(0);
    const T quotient = (a - rest) / b - down;
    if (quotient == T(0)) return std::copysign(T(0), a / b);
    const T floor = std::floor(quotient);
    return quotient - floor > T(0.5) ? floor + T(1) : floor;
  }
};

// If either is NaN, so is the result.
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
