// Loops over a row in whole vectors and one partial vector, for sums over rows; include it after
// hwy/highway.h.
//
// channels-inl.h ends a row with narrower vectors. Here the last vector is as wide as the others,
// so one set of accumulators serves the whole row.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"

// The guard toggles with each pass of foreach_target.h.
#if defined(TORUS_OPS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORUS_OPS_ROWS_INL_H_
#undef TORUS_OPS_ROWS_INL_H_
#else
#define TORUS_OPS_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector that lies wholly in the row.
struct WholeVector {
  template <class D, class T>
  HWY_INLINE hn::Vec<D> Load(D d, const T* p) const {
    return hn::LoadU(d, p);
  }
  template <class D, class V, class T>
  HWY_INLINE void Store(V v, D d, T* p) const {
    hn::StoreU(v, d, p);
  }
  // v itself: no lane is beyond the row.
  template <class D, class V>
  HWY_INLINE V Keep(D, V v) const {
    return v;
  }
  template <class D, class V>
  HWY_INLINE V KeepOr(D, V v, V) const {
    return v;
  }
};

// The row's last `count` elements, fewer than a vector: nothing beyond them is read or written.
struct PartVector {
  int64_t count;
  // Zeros beyond the row.
  template <class D, class T>
  HWY_INLINE hn::Vec<D> Load(D d, const T* p) const {
    HWY_ALIGN T buffer[hn::MaxLanes(D())] = {};
    std::copy_n(p, count, buffer);
    return hn::Load(d, buffer);
  }
  template <class D, class V, class T>
  HWY_INLINE void Store(V v, D d, T* p) const {
    HWY_ALIGN T buffer[hn::MaxLanes(D())];
    hn::Store(v, d, buffer);
    std::copy_n(buffer, count, p);
  }
  // v with zeros beyond the row.
  template <class D, class V>
  HWY_INLINE V Keep(D d, V v) const {
    return hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count)), v);
  }
  // v with `other` beyond the row.
  template <class D, class V>
  HWY_INLINE V KeepOr(D d, V v, V other) const {
    return hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(count)), v, other);
  }
};

// Calls body(part, k, at) for the vectors of a row of n elements. k is an integral constant that
// cycles through 0..3, for four independent accumulators that hide the latency of an addition.
template <class D, class Body>
HWY_INLINE void OverRow(D d, int64_t n, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + 4 * lanes <= n; at += 4 * lanes) {
    body(WholeVector(), std::integral_constant<int, 0>(), at);
    body(WholeVector(), std::integral_constant<int, 1>(), at + lanes);
    body(WholeVector(), std::integral_constant<int, 2>(), at + 2 * lanes);
    body(WholeVector(), std::integral_constant<int, 3>(), at + 3 * lanes);
  }
  for (; at + lanes <= n; at += lanes) body(WholeVector(), std::integral_constant<int, 0>(), at);
  if (at < n) body(PartVector{n - at}, std::integral_constant<int, 0>(), at);
}

// Four accumulators of a sum.
template <class D>
struct FourSums {
  HWY_INLINE explicit FourSums(D d)
      : a(hn::Zero(d)), b(hn::Zero(d)), c(hn::Zero(d)), e(hn::Zero(d)) {}
  HWY_INLINE hn::Vec<D>& operator[](int k) { return k == 0 ? a : k == 1 ? b : k == 2 ? c : e; }
  HWY_INLINE hn::TFromD<D> Total(D d) const {
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  }
  hn::Vec<D> a, b, c, e;
};

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
