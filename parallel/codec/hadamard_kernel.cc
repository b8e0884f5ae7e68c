#include "parallel/codec/hadamard_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/codec/hadamard_kernel.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Adds and subtracts values `half` apart, half < Lanes(d): lane i becomes x[i] + x[i ^ half] or, if
// i has the bit `half`, x[i ^ half] - x[i].
template <class D, class V>
HWY_INLINE V WithinVector(D d, V x, int half) {
  const hn::RebindToSigned<D> di;
  const auto lane = hn::Iota(di, 0), bit = hn::Set(di, half);
  const auto partner = hn::TableLookupLanes(x, hn::IndicesFromVec(d, hn::Xor(lane, bit)));
  const auto upper = hn::RebindMask(d, hn::Eq(hn::And(lane, bit), bit));
  return hn::Add(partner, hn::IfThenElse(upper, hn::Neg(x), x));
}

template <class D>
void SignsAndShortSteps(D d, float* values, int64_t size, const float* first, float factor) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, factor);
  for (int64_t i = 0; i < size; i += lanes) {
    auto x = hn::Mul(hn::LoadU(d, values + i), hn::Mul(hn::LoadU(d, first + i), scale));
    for (int half = 1; half < lanes; half *= 2) x = WithinVector(d, x, half);
    hn::StoreU(x, d, values + i);
  }
}

template <class D>
void Step(D d, float* values, int64_t size, int64_t half) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t begin = 0; begin < size; begin += 2 * half)
    for (int64_t i = begin; i < begin + half; i += lanes) {
      const auto a = hn::LoadU(d, values + i), b = hn::LoadU(d, values + i + half);
      hn::StoreU(hn::Add(a, b), d, values + i);
      hn::StoreU(hn::Sub(a, b), d, values + i + half);
    }
}

// Steps `half` and 2 * half at once: half as many loads and stores.
template <class D>
void TwoSteps(D d, float* values, int64_t size, int64_t half) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t begin = 0; begin < size; begin += 4 * half)
    for (int64_t i = begin; i < begin + half; i += lanes) {
      float* const at = values + i;
      const auto a = hn::LoadU(d, at), b = hn::LoadU(d, at + half);
      const auto c = hn::LoadU(d, at + 2 * half), e = hn::LoadU(d, at + 3 * half);
      const auto ab = hn::Add(a, b), a_b = hn::Sub(a, b), ce = hn::Add(c, e), c_e = hn::Sub(c, e);
      hn::StoreU(hn::Add(ab, ce), d, at);
      hn::StoreU(hn::Add(a_b, c_e), d, at + half);
      hn::StoreU(hn::Sub(ab, ce), d, at + 2 * half);
      hn::StoreU(hn::Sub(a_b, c_e), d, at + 3 * half);
    }
}

template <class D>
void Transform(D d, float* values, int64_t size, const float* first, float factor,
               const float* last) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  SignsAndShortSteps(d, values, size, first, factor);
  int64_t half = lanes;
  for (; 4 * half <= size; half *= 4) TwoSteps(d, values, size, half);
  if (half < size) Step(d, values, size, half);
  for (int64_t i = 0; i < size; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i), hn::LoadU(d, last + i)), d, values + i);
}

// A block smaller than a vector has a smaller vector.
void TransformAny(float* values, int64_t size, const float* first, float factor,
                  const float* last) {
  const hn::ScalableTag<float> d;
  if (size >= static_cast<int64_t>(hn::Lanes(d)))
    return Transform(d, values, size, first, factor, last);
  switch (size) {
    case 1:
      return Transform(hn::CappedTag<float, 1>(), values, size, first, factor, last);
    case 2:
      return Transform(hn::CappedTag<float, 2>(), values, size, first, factor, last);
    case 4:
      return Transform(hn::CappedTag<float, 4>(), values, size, first, factor, last);
    default:
      return Transform(hn::CappedTag<float, 8>(), values, size, first, factor, last);
  }
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {

HWY_EXPORT(TransformAny);

void SignedHadamard(float* values, int64_t size, const float* first, float factor,
                    const float* last) {
  HWY_DYNAMIC_DISPATCH(TransformAny)(values, size, first, factor, last);
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
