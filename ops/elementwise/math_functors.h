// Elementary functions of one element and their derivatives; the same code runs on CPU and GPU.
//
// Forward(x) returns the value. Backward(s, g) returns the gradient of x, given the gradient g of
// the value. s is the value if kKeepsOutput (so the input need not be kept), else x.
#pragma once

#include <cmath>

#include "runtime/host_device.h"

namespace torus::ops {

struct ExpFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::exp(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return g * y;
  }
};

struct LogFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::log(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g / x;
  }
};

struct SqrtFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::sqrt(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return g / (T(2) * y);
  }
};

struct RsqrtFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return T(1) / std::sqrt(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return T(-0.5) * g * y * y * y;
  }
};

struct ErfFunctor {
  static constexpr bool kKeepsOutput = false;
  static constexpr double kSlopeAtZero = 1.12837916709551257390;  // 2 / sqrt(pi)
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::erf(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g * static_cast<T>(kSlopeAtZero) * std::exp(-x * x);
  }
};

// The derivative at 0 is 0, as in PyTorch.
struct AbsFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::abs(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T positive = x > T(0) ? g : T(0);
    return x < T(0) ? -g : positive;
  }
};

// Calls DO(functor) for each of them, for the kernels of each device.
#define TORUS_MATH_FUNCTORS(DO) \
  DO(ExpFunctor)                \
  DO(LogFunctor)                \
  DO(SqrtFunctor)               \
  DO(RsqrtFunctor)              \
  DO(AbsFunctor)                \
  DO(ErfFunctor)

}  // namespace torus::ops
