// The activation functions of activation_functors.h on f32 vectors; include it after hwy/highway.h.
//
// Each has Forward(d, x) and Backward(d, kept, g); `kept` is the output if the functor's
// kKeepsOutput, else the input.
#include "hwy/highway.h"
#include "ops/cpu/functions-inl.h"

// The guard toggles with each pass of foreach_target.h.
#if defined(TORUS_OPS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORUS_OPS_ACTIVATION_INL_H_
#undef TORUS_OPS_ACTIVATION_INL_H_
#else
#define TORUS_OPS_ACTIVATION_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct SigmoidVector {
  template <class D, class V>
  static HWY_INLINE V Forward(D d, V x) {
    return Logistic(d, x);
  }
  template <class D, class V>
  static HWY_INLINE V Backward(D d, V y, V g) {
    return hn::Mul(hn::Mul(g, hn::Sub(hn::Set(d, 1.0f), y)), y);
  }
};

struct TanhVector {
  template <class D, class V>
  static HWY_INLINE V Forward(D d, V x) {
    return Tanh(d, x);
  }
  template <class D, class V>
  static HWY_INLINE V Backward(D d, V y, V g) {
    return hn::Mul(g, hn::NegMulAdd(y, y, hn::Set(d, 1.0f)));
  }
};

struct SiluVector {
  template <class D, class V>
  static HWY_INLINE V Forward(D d, V x) {
    return hn::Mul(x, Logistic(d, x));
  }
  template <class D, class V>
  static HWY_INLINE V Backward(D d, V x, V g) {
    const auto s = Logistic(d, x), one = hn::Set(d, 1.0f);
    return hn::Mul(hn::Mul(g, s), hn::MulAdd(x, hn::Sub(one, s), one));
  }
};

struct GeluVector {
  template <class D, class V>
  static HWY_INLINE V Forward(D d, V x) {
    return hn::Mul(x, NormalOf(d, x).distribution);
  }
  template <class D, class V>
  static HWY_INLINE V Backward(D d, V x, V g) {
    const auto normal = NormalOf(d, x);
    const auto density = hn::Mul(normal.bell, hn::Set(d, 0.398942280f));
    return hn::Mul(g, hn::MulAdd(x, density, normal.distribution));
  }
};

// (1 + tanh(u)) / 2 is the logistic function of 2 u.
struct GeluTanhVector {
  template <class D, class V>
  static HWY_INLINE V Forward(D d, V x) {
    return hn::Mul(x, Logistic(d, Inner(d, x)));
  }
  template <class D, class V>
  static HWY_INLINE V Backward(D d, V x, V g) {
    const auto s = Logistic(d, Inner(d, x)), one = hn::Set(d, 1.0f);
    const auto slope =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, 3 * kTwice * kCubic), hn::Set(d, kTwice));
    // Beyond |x| = 10 the derivative is 0 or 1; the square of a huge x would be infinite. At the
    // infinities themselves it is NaN: x - x is.
    const auto bend = hn::Mul(hn::Mul(x, s), hn::Mul(hn::Sub(one, s), slope));
    const auto far = hn::Gt(hn::Abs(x), hn::Set(d, 1e4f));
    return hn::Mul(g, hn::Add(s, hn::IfThenElse(far, hn::Sub(x, x), bend)));
  }

 private:
  static constexpr float kTwice = 1.59576912f, kCubic = 0.044715f;  // 2 sqrt(2 / pi)
  template <class D, class V>
  static HWY_INLINE V Inner(D d, V x) {
    const auto factor = hn::MulAdd(hn::Mul(x, x), hn::Set(d, kTwice * kCubic), hn::Set(d, kTwice));
    return hn::Mul(x, factor);
  }
};

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
