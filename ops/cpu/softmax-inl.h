// Row loops shared by softmax, its losses and attention; include it after hwy/highway.h.
#include <limits>

#include "hwy/highway.h"
#include "ops/cpu/functions-inl.h"
#include "ops/cpu/rows-inl.h"

// The guard toggles with each pass of foreach_target.h.
#if defined(TORUS_OPS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORUS_OPS_SOFTMAX_INL_H_
#undef TORUS_OPS_SOFTMAX_INL_H_
#else
#define TORUS_OPS_SOFTMAX_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

// The largest element of a row; -inf for an empty row. A NaN may or may not be returned, but always
// reaches the sum of exponentials.
template <class D>
HWY_INLINE float LargestOf(D d, int64_t n, const float* x) {
  const auto least = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto a = least, b = least;
  OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
    const auto v = part.KeepOr(d, part.Load(d, x + c), least);
    if constexpr (k % 2 == 0)
      a = hn::Max(a, v);
    else
      b = hn::Max(b, v);
  });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

// y = exp(x - offset), for x <= offset; returns the sum. y may be x.
template <class D>
HWY_INLINE float ExpRow(D d, int64_t n, const float* x, float offset, float* y) {
  FourSums<D> sum(d);
  const auto o = hn::Set(d, offset);
  OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
    const auto e = ExpOfNonPositive(d, hn::Sub(part.Load(d, x + c), o));
    part.Store(e, d, y + c);
    sum[k] = hn::Add(sum[k], part.Keep(d, e));
  });
  return sum.Total(d);
}

// The same sum; writes nothing.
template <class D>
HWY_INLINE float SumOfExp(D d, int64_t n, const float* x, float offset) {
  FourSums<D> sum(d);
  const auto o = hn::Set(d, offset);
  OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
    const auto e = ExpOfNonPositive(d, hn::Sub(part.Load(d, x + c), o));
    sum[k] = hn::Add(sum[k], part.Keep(d, e));
  });
  return sum.Total(d);
}

// The sum of a row.
template <class D>
HWY_INLINE float SumOf(D d, int64_t n, const float* x) {
  FourSums<D> sum(d);
  OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
    sum[k] = hn::Add(sum[k], part.Load(d, x + c));
  });
  return sum.Total(d);
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
