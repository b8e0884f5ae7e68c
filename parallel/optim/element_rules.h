// The updates of optimizers element by element, for CPUs and GPUs: an optimizer's scalars of a step
// in f64, and in them the Rule that applies them, rounded to T once, to one element. A rule goes to
// a GPU as words of 8 bytes.
//
// Each sum of a product is one fused multiply-add, so that no compiler has one to fuse: the bits do
// not depend on device and vector width.
#pragma once

#include <cmath>

#include "runtime/host_device.h"

namespace torus::parallel {

// a + weight (b - a), as torch.lerp computes it.
template <class T>
TORUS_HOST_DEVICE T Lerp(T a, T b, T weight) {
  const T difference = b - a;
  return weight < T(0.5) ? std::fma(difference, weight, a)
                         : std::fma(-difference, T(1) - weight, b);
}

// The values of one element: gradient g, and what an update changes. States that an optimizer does
// not have are null.
template <class T>
struct ElementValues {
  T g;
  T& p;             // the parameter
  T *s0, *s1, *s2;  // states
};

// Gradients are multiplied by gradient_scale, which is negative to maximize; then weight_decay p is
// added where it is not decoupled. Members without a comment are Adagrad's options, and kName names
// them in errors.
struct AdagradScalars {
  static constexpr const char* kName = "adagrad";
  double learning_rate = 0, gradient_scale = 1, weight_decay = 0, eps = 1e-10;

  // s0 = s0 + g^2;  p = p - learning_rate g / (sqrt(s0) + eps)
  // Members without a comment are the formulas' factors as T, and the update of one element.
  template <class T>
  struct alignas(8) Rule {
    T scale, decay, size, eps;
    explicit Rule(const AdagradScalars& s)
        : scale(static_cast<T>(s.gradient_scale)),
          decay(static_cast<T>(s.weight_decay)),
          size(static_cast<T>(-s.learning_rate)),
          eps(static_cast<T>(s.eps)) {}
    TORUS_HOST_DEVICE void operator()(const ElementValues<T>& v) const {
      const T g = std::fma(v.p, decay, v.g * scale);
      const T sum = std::fma(g, g, *v.s0);
      *v.s0 = sum;
      v.p = v.p + size * g / (std::sqrt(sum) + eps);
    }
  };
};

// Members without a comment are RMSprop's options, and kName names them in errors.
struct RmspropScalars {
  static constexpr const char* kName = "rmsprop";
  double learning_rate = 0, gradient_scale = 1, weight_decay = 0;
  double eps = 1e-8, alpha = 0.99, momentum = 0;

  // s0 = alpha s0 + (1 - alpha) g^2;  s2 = alpha s2 + (1 - alpha) g, if there is one (centered)
  // d = g / (sqrt(s0 - s2^2) + eps)
  // s1 = momentum s1 + d, if there is one;  p = p - learning_rate (s1 or d)
  // Members without a comment are the formulas' factors as T, and the update of one element.
  template <class T>
  struct alignas(8) Rule {
    T scale, decay, size, eps, alpha, rest, momentum;
    explicit Rule(const RmspropScalars& s)
        : scale(static_cast<T>(s.gradient_scale)),
          decay(static_cast<T>(s.weight_decay)),
          size(static_cast<T>(-s.learning_rate)),
          eps(static_cast<T>(s.eps)),
          alpha(static_cast<T>(s.alpha)),
          rest(static_cast<T>(1 - s.alpha)),
          momentum(static_cast<T>(s.momentum)) {}
    TORUS_HOST_DEVICE void operator()(const ElementValues<T>& v) const {
      const T g = std::fma(v.p, decay, v.g * scale);
      T square = std::fma(rest * g, g, *v.s0 * alpha);
      *v.s0 = square;
      if (v.s2 != nullptr) {
        const T mean = Lerp(*v.s2, g, rest);
        *v.s2 = mean;
        square = std::fma(-mean, mean, square);
      }
      T step = g / (std::sqrt(square) + eps);
      if (v.s1 != nullptr) {
        step = std::fma(*v.s1, momentum, step);
        *v.s1 = step;
      }
      v.p = std::fma(step, size, v.p);
    }
  };
};

// Members without a comment are Lion's options, and kName names them in errors.
struct LionScalars {
  static constexpr const char* kName = "lion";
  double learning_rate = 0, gradient_scale = 1, weight_decay = 0, beta1 = 0.9, beta2 = 0.99;

  // p = p (1 - learning_rate weight_decay) - learning_rate sign(beta1 s0 + (1 - beta1) g)
  // s0 = beta2 s0 + (1 - beta2) g
  // Members without a comment are the formulas' factors as T, and the update of one element.
  template <class T>
  struct alignas(8) Rule {
    T scale, keep, size, rest1, rest2;
    explicit Rule(const LionScalars& s)
        : scale(static_cast<T>(s.gradient_scale)),
          keep(static_cast<T>(1 - s.learning_rate * s.weight_decay)),
          size(static_cast<T>(-s.learning_rate)),
          rest1(static_cast<T>(1 - s.beta1)),
          rest2(static_cast<T>(1 - s.beta2)) {}
    TORUS_HOST_DEVICE void operator()(const ElementValues<T>& v) const {
      const T g = v.g * scale, mixed = Lerp(*v.s0, g, rest1);
      const T sign = mixed > T(0) ? T(1) : mixed < T(0) ? T(-1) : mixed;  // NaN passes
      v.p = std::fma(sign, size, v.p * keep);
      *v.s0 = Lerp(*v.s0, g, rest2);
    }
  };
};

// Members without a comment are schedule-free AdamW's options, and kName names them in errors.
struct ScheduleFreeScalars {
  static constexpr const char* kName = "schedule_free";
  double learning_rate = 0, gradient_scale = 1, weight_decay = 0;
  double eps = 1e-8, beta1 = 0.9, beta2 = 0.999;
  double step = 1;   // of the variance, including this one
  double share = 1;  // of the new z in the average

  // p is y, s0 is z, s1 the variance v (Defazio et al. 2024, algorithm 1):
  // v = beta2 v + (1 - beta2) g^2;  d = g / (sqrt(v / (1 - beta2^step)) + eps) + weight_decay y
  // y = (1 - share) y + share z - learning_rate (1 - beta1 (1 - share)) d
  // z = z - learning_rate d
  // Members without a comment are the formulas' factors as T, and the update of one element.
  template <class T>
  struct alignas(8) Rule {
    T scale, decay, eps, beta2, rest2, correction, share, size_y, size_z;
    explicit Rule(const ScheduleFreeScalars& s)
        : scale(static_cast<T>(s.gradient_scale)),
          decay(static_cast<T>(s.weight_decay)),
          eps(static_cast<T>(s.eps)),
          beta2(static_cast<T>(s.beta2)),
          rest2(static_cast<T>(1 - s.beta2)),
          correction(static_cast<T>(1 / std::sqrt(1 - std::pow(s.beta2, s.step)))),
          share(static_cast<T>(s.share)),
          size_y(static_cast<T>(-s.learning_rate * (1 - s.beta1 * (1 - s.share)))),
          size_z(static_cast<T>(-s.learning_rate)) {}
    TORUS_HOST_DEVICE void operator()(const ElementValues<T>& v) const {
      const T g = v.g * scale;
      const T variance = std::fma(rest2 * g, g, *v.s1 * beta2);
      *v.s1 = variance;
      const T d = std::fma(v.p, decay, g / std::fma(std::sqrt(variance), correction, eps));
      const T z = *v.s0;
      v.p = std::fma(d, size_y, Lerp(v.p, z, share));
      *v.s0 = std::fma(d, size_z, z);
    }
  };
};

// p = p + weight (s0 - p): between the points of schedule-free optimization. Members without a
// comment are as the formula says.
struct MoveScalars {
  static constexpr const char* kName = "schedule_free";
  double weight = 0;

  // Members without a comment are the formulas' factors as T, and the update of one element.
  template <class T>
  struct alignas(8) Rule {
    T weight;
    explicit Rule(const MoveScalars& s) : weight(static_cast<T>(s.weight)) {}
    // Weights are outside of [0, 1] too, where Lerp's second form has no advantage.
    TORUS_HOST_DEVICE void operator()(const ElementValues<T>& v) const {
      v.p = std::fma(*v.s0 - v.p, weight, v.p);
    }
  };
};

// The momentum of Muon: s0 = s0 + (1 - momentum) (g - s0); s1 = g + momentum (s0 - g), or s0
// without Nesterov. p stays. Members without a comment are Muon's options.
struct MomentumScalars {
  static constexpr const char* kName = "muon";
  double gradient_scale = 1, momentum = 0.95;
  bool nesterov = true;

  // Members without a comment are the formulas' factors as T, and the update of one element.
  template <class T>
  struct alignas(8) Rule {
    T scale, momentum, rest;
    bool nesterov;
    explicit Rule(const MomentumScalars& s)
        : scale(static_cast<T>(s.gradient_scale)),
          momentum(static_cast<T>(s.momentum)),
          rest(static_cast<T>(1 - s.momentum)),
          nesterov(s.nesterov) {}
    TORUS_HOST_DEVICE void operator()(const ElementValues<T>& v) const {
      const T g = v.g * scale, buffer = Lerp(*v.s0, g, rest);
      *v.s0 = buffer;
      *v.s1 = nesterov ? Lerp(g, buffer, momentum) : buffer;
    }
  };
};

// p = p (1 - learning_rate weight_decay) - size g, for a direction g. Members without a comment are
// as the formula says.
struct DirectionScalars {
  static constexpr const char* kName = "muon";
  double learning_rate = 0, weight_decay = 0, size = 0;

  // Members without a comment are the formulas' factors as T, and the update of one element.
  template <class T>
  struct alignas(8) Rule {
    T keep, size;
    explicit Rule(const DirectionScalars& s)
        : keep(static_cast<T>(1 - s.learning_rate * s.weight_decay)),
          size(static_cast<T>(-s.size)) {}
    TORUS_HOST_DEVICE void operator()(const ElementValues<T>& v) const {
      v.p = std::fma(v.g, size, v.p * keep);
    }
  };
};

}  // namespace torus::parallel
