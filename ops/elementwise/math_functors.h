// Elementary functions of one element and their derivatives; the same code runs on CPU and GPU.
//
// Forward(x) returns the value. Backward(s, g) returns the gradient of x, given the gradient g of
// the value. s is the value if kKeepsOutput (so the input need not be kept), else x.
//
// A functor without Backward is a step function: constant between its steps, so its gradient is
// taken to be zero everywhere.
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

struct SinFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::sin(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g * std::cos(x);
  }
};

struct CosFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::cos(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g * -std::sin(x);
  }
};

struct TanFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::tan(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return g * (T(1) + y * y);
  }
};

// log(1 + x), exact for small x
struct Log1pFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::log1p(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g / (x + T(1));
  }
};

// exp(x) - 1, exact for small x
struct Expm1Functor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::expm1(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return g * (y + T(1));
  }
};

struct ReciprocalFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return T(1) / x;
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return -g * (y * y);
  }
};

struct SquareFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x * x;
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g * (x * T(2));
  }
};

// -1, 0 or 1; 0 for NaN, as in PyTorch.
struct SignFunctor {
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    const T positive = x > T(0) ? T(1) : T(0);
    return x < T(0) ? T(-1) : positive;
  }
};

struct FloorFunctor {
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::floor(x);
  }
};

struct CeilFunctor {
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::ceil(x);
  }
};

// To the nearest whole number, halves to the even one.
struct RoundFunctor {
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::nearbyint(x);
  }
};

// To the nearest multiple of 10 ^ -decimals: of 1 / power, or of `power` if `whole`.
struct RoundDecimalsFunctor {
  double power;  // 10 ^ |decimals|
  bool whole;    // decimals are negative
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    const T p = static_cast<T>(power);
    return whole ? std::nearbyint(x / p) * p : std::nearbyint(x * p) / p;
  }
};

// Calls DO(functor) for each of them that has a Backward, for the kernels of each device.
#define TORUS_MATH_FUNCTORS(DO) \
  DO(ExpFunctor)                \
  DO(LogFunctor)                \
  DO(SqrtFunctor)               \
  DO(RsqrtFunctor)              \
  DO(AbsFunctor)                \
  DO(ErfFunctor)                \
  DO(SinFunctor)                \
  DO(CosFunctor)                \
  DO(TanFunctor)                \
  DO(Log1pFunctor)              \
  DO(Expm1Functor)              \
  DO(ReciprocalFunctor)         \
  DO(SquareFunctor)

// The same for the step functions.
#define TORUS_STEP_FUNCTORS(DO) \
  DO(SignFunctor)               \
  DO(FloorFunctor)              \
  DO(CeilFunctor)               \
  DO(RoundFunctor)              \
  DO(RoundDecimalsFunctor)

}  // namespace torus::ops
