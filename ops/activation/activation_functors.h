// Activation functions of one element and their derivatives, in the form of
// elementwise/math_functors.h.
#pragma once

#include <cmath>

#include "runtime/host_device.h"

namespace torus::ops {

// Clamps to [min_val, max_val]; NaN passes through. As in PyTorch, the gradient is zero at and
// beyond both ends, which the output shows too. ReLU6 is (0, 6).
struct HardtanhFunctor {
  static constexpr bool kKeepsOutput = true;
  double min_val, max_val;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    const T low = static_cast<T>(min_val), high = static_cast<T>(max_val);
    const T above = x < low ? low : x;
    return above > high ? high : above;
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    // Comparisons in this direction give NaN gradient 0, as in PyTorch. Two separate conditions,
    // not one with &&: gcc vectorises a chain of selections.
    const T inside = y > static_cast<T>(min_val) ? g : T(0);
    return y < static_cast<T>(max_val) ? inside : T(0);
  }
};

struct ReluFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x <= T(0) ? T(0) : x;
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return y <= T(0) ? T(0) : g;
  }
};

struct LeakyReluFunctor {
  static constexpr bool kKeepsOutput = false;
  double negative_slope;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x > T(0) ? x : x * static_cast<T>(negative_slope);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return x > T(0) ? g : g * static_cast<T>(negative_slope);
  }
};

struct SigmoidFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return g * (T(1) - y) * y;
  }
};

// log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)), which overflows nowhere.
struct LogSigmoidFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return (x < T(0) ? x : T(0)) - std::log1p(std::exp(-std::abs(x)));
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g / (T(1) + std::exp(x));
  }
};

struct TanhFunctor {
  static constexpr bool kKeepsOutput = true;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return std::tanh(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T y, T g) const {
    return g * (T(1) - y * y);
  }
};

// x * sigmoid(x) (Elfwing et al. 2017)
struct SiluFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x / (T(1) + std::exp(-x));
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T s = T(1) / (T(1) + std::exp(-x));
    return g * s * (T(1) + x * (T(1) - s));
  }
};

// x * Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016)
struct GeluFunctor {
  static constexpr bool kKeepsOutput = false;
  static constexpr double kRootHalf = 0.70710678118654752440;      // 1 / sqrt(2)
  static constexpr double kDensityScale = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x * Phi(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return g * (Phi(x) + x * static_cast<T>(kDensityScale) * std::exp(T(-0.5) * x * x));
  }
  // erfc keeps the digits of the lower tail, which 1 + erf would cancel.
  template <class T>
  TORUS_HOST_DEVICE static T Phi(T x) {
    return T(0.5) * std::erfc(-x * static_cast<T>(kRootHalf));
  }
};

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the same paper's approximation
struct GeluTanhFunctor {
  static constexpr bool kKeepsOutput = false;
  static constexpr double kScale = 0.79788456080286535588;  // sqrt(2 / pi)
  static constexpr double kCubic = 0.044715;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return T(0.5) * x * (T(1) + std::tanh(Inner(x)));
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T t = std::tanh(Inner(x));
    const T slope = static_cast<T>(kScale) * (T(1) + static_cast<T>(3 * kCubic) * x * x);
    return g * T(0.5) * (T(1) + t + x * (T(1) - t * t) * slope);
  }
  template <class T>
  TORUS_HOST_DEVICE static T Inner(T x) {
    return static_cast<T>(kScale) * (x + static_cast<T>(kCubic) * x * x * x);
  }
};

// log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold
struct SoftplusFunctor {
  static constexpr bool kKeepsOutput = false;
  double beta, threshold;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    const T scaled = x * static_cast<T>(beta);
    return scaled > static_cast<T>(threshold) ? x
                                              : std::log1p(std::exp(scaled)) / static_cast<T>(beta);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T scaled = x * static_cast<T>(beta);
    return scaled > static_cast<T>(threshold) ? g : g / (T(1) + std::exp(-scaled));
  }
};

// x * scale where positive, else alpha * scale * (exp(rate x) - 1). As in PyTorch, 0 and below have
// the slope of the exponential.
struct EluFunctor {
  static constexpr bool kKeepsOutput = false;
  double alpha, scale, rate;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x <= T(0) ? std::expm1(x * static_cast<T>(rate)) * static_cast<T>(alpha * scale)
                     : x * static_cast<T>(scale);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T slope = static_cast<T>(rate * alpha * scale) * std::exp(x * static_cast<T>(rate));
    return x <= T(0) ? g * slope : g * static_cast<T>(scale);
  }
};

// x * tanh(log(1 + exp(x))) (Misra 2019)
struct MishFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x * Gate(x);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T gate = Gate(x);
    return g * (gate + x * SigmoidFunctor().Forward(x) * (T(1) - gate * gate));
  }
  template <class T>
  TORUS_HOST_DEVICE static T Gate(T x) {
    return std::tanh(std::log1p(std::exp(x)));
  }
};

// min(max(x + 3, 0), 6) / 6; gradient 0 at both ends and for NaN.
struct HardsigmoidFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return Sixth(x) / T(6);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T inside = x > T(-3) ? g / T(6) : T(0);
    return x < T(3) ? inside : T(0);
  }
  template <class T>
  TORUS_HOST_DEVICE static T Sixth(T x) {
    return HardtanhFunctor{0, 6}.Forward(x + T(3));
  }
};

// x * hardsigmoid(x) (Howard et al. 2019); gradient 0 at -3 and 1 at 3.
struct HardswishFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x * HardsigmoidFunctor::Sixth(x) / T(6);
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T inside = x < T(3) ? g * (x / T(3) + T(0.5)) : g;
    return x <= T(-3) ? T(0) : inside;
  }
};

// x / (1 + |x|); the gradient at an infinity is NaN, as x - x is.
struct SoftsignFunctor {
  static constexpr bool kKeepsOutput = false;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x / (T(1) + std::abs(x));
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    const T d = T(1) + std::abs(x);
    return g / (d * d) + (x - x);
  }
};

// x where it is above the threshold, or NaN, else `value`
struct ThresholdFunctor {
  static constexpr bool kKeepsOutput = false;
  double threshold, value;
  template <class T>
  TORUS_HOST_DEVICE T Forward(T x) const {
    return x <= static_cast<T>(threshold) ? static_cast<T>(value) : x;
  }
  template <class T>
  TORUS_HOST_DEVICE T Backward(T x, T g) const {
    return x <= static_cast<T>(threshold) ? T(0) : g;
  }
};

// Calls DO(functor) for each of them, for the kernels of each device.
#define TORUS_ACTIVATION_FUNCTORS(DO) \
  DO(SigmoidFunctor)                  \
  DO(TanhFunctor)                     \
  DO(SiluFunctor)                     \
  DO(GeluFunctor)                     \
  DO(GeluTanhFunctor)                 \
  DO(HardtanhFunctor)                 \
  DO(ReluFunctor)                     \
  DO(LeakyReluFunctor)                \
  DO(LogSigmoidFunctor)               \
  DO(SoftplusFunctor)                 \
  DO(EluFunctor)                      \
  DO(MishFunctor)                     \
  DO(HardsigmoidFunctor)              \
  DO(HardswishFunctor)                \
  DO(SoftsignFunctor)                 \
  DO(ThresholdFunctor)

}  // namespace torus::ops
