// exp, tanh, the logistic function and the normal distribution of f32 vectors; include it after
// hwy/highway.h.
//
// Polynomials are minimax, fitted by Remez's algorithm in 40 digits. tests/ops/vector_math_test.cc
// checks the stated error bounds, in ulp of the exact result. NaN gives NaN.
#include <cstdint>

#include "hwy/highway.h"

// The guard toggles with each pass of foreach_target.h.
#if defined(TORUS_OPS_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORUS_OPS_FUNCTIONS_INL_H_
#undef TORUS_OPS_FUNCTIONS_INL_H_
#else
#define TORUS_OPS_FUNCTIONS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// exp(x) = fraction 2^exponent, with fraction in [0.7, 1.42] to a relative 2^-28 and rounding.
template <class D>
struct SplitExp {
  hn::Vec<D> fraction;
  hn::Vec<hn::RebindToSigned<D>> exponent;
};

template <class D, class V>
HWY_INLINE SplitExp<D> SplitExpOf(D d, V x) {
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  // ln 2 in two parts: n times the first is exact.
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  auto p = hn::Set(d, 0.00138144639022f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.00836878038195f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416683942625f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665201082f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.499999934123f));
  const auto fraction = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
  return {fraction, hn::ConvertTo(hn::RebindToSigned<D>(), n)};
}

// 2^exponent; exponents in [-126, 127].
template <class D, class VI>
HWY_INLINE hn::Vec<D> PowerOf2(D d, VI exponent) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(di, 127))));
}

// exp(x) over the whole range, to 2 ulp (denormal results to the smallest denormal).
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  // This order of operands lets NaN through. Beyond the ends the results are infinity and zero.
  const auto bounded = hn::Min(hn::Set(d, 89.0f), hn::Max(hn::Set(d, -104.0f), x));
  const auto e = SplitExpOf(d, bounded);
  // In two steps, since 2^128 and 2^-150 are not floats.
  const auto half = hn::ShiftRight<1>(e.exponent);
  return hn::Mul(hn::Mul(e.fraction, PowerOf2(d, half)), PowerOf2(d, hn::Sub(e.exponent, half)));
}

// exp(x) for x <= 0, to 2 ulp; zero where the result would be denormal.
template <class D, class V>
HWY_INLINE V ExpOfNonPositive(D d, V x) {
  const auto low = hn::Set(d, -87.3f);
  const auto e = SplitExpOf(d, hn::Max(low, x));
  return hn::IfThenZeroElse(hn::Lt(x, low), hn::Mul(e.fraction, PowerOf2(d, e.exponent)));
}

// 1 / (1 + exp(-x)), to 4 ulp.
template <class D, class V>
HWY_INLINE V Logistic(D d, V x) {
  const auto one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, Exp(d, hn::Neg(x))));
}

// tanh(x), to 3 ulp: an odd polynomial below 0.625, else 1 - 2 / (exp(2 |x|) + 1).
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  const auto y = hn::Mul(x, x), one = hn::Set(d, 1.0f), size = hn::Abs(x);
  auto p = hn::Set(d, -0.00571704506382f);
  p = hn::MulAdd(p, y, hn::Set(d, 0.0206505871216f));
  p = hn::MulAdd(p, y, hn::Set(d, -0.0537434979353f));
  p = hn::MulAdd(p, y, hn::Set(d, 0.133314912834f));
  p = hn::MulAdd(p, y, hn::Set(d, -0.33333283925f));
  const auto near = hn::MulAdd(hn::Mul(p, y), x, x);
  const auto far =
      hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(Exp(d, hn::Add(size, size)), one)));
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625f)), near, hn::CopySign(far, x));
}

// The normal distribution at x: Phi(x), and exp(-x^2 / 2), which is the density times sqrt(2 pi).
template <class D>
struct Normal {
  hn::Vec<D> distribution, bell;
};

// Both to 8 ulp, the lower tail too (denormal results to the smallest denormal). The tail is
// exp(-a^2) t Q(t) / 2 with a = |x| / sqrt(2), t = 1 / (1 + 0.3275911 a), Q of degree 9 to a
// relative 2^-27.
template <class D, class V>
HWY_INLINE Normal<D> NormalOf(D d, V x) {
  const auto one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  const auto size = hn::Min(hn::Set(d, 14.6f), hn::Abs(x));  // beyond, Phi is 0 or 1
  const auto square = hn::Mul(size, size);
  // The rounding error of the square; the exponential would magnify it 100 times.
  const auto lost = hn::MulSub(size, size, square);
  const auto bell =
      hn::Mul(Exp(d, hn::Mul(square, hn::Set(d, -0.5f))), hn::NegMulAdd(lost, half, one));
  const auto t = hn::Div(one, hn::MulAdd(size, hn::Set(d, 0.231641892f), one));
  auto q = hn::Set(d, 0.0549825411552f);
  q = hn::MulAdd(q, t, hn::Set(d, -0.307767456362f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.604895449647f));
  q = hn::MulAdd(q, t, hn::Set(d, -0.529402398956f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.475191298395f));
  q = hn::MulAdd(q, t, hn::Set(d, -0.0358896935232f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.200760393075f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.166794623538f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.185648277303f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.184786959803f));
  const auto tail = hn::Mul(hn::Mul(bell, half), hn::Mul(t, q));
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)), bell};
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
