#include "parallel/codec/quantize_kernel.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/codec/quantize_kernel.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kAhead = 512;  // values prefetched

// table[index] of kBuckets floats; kMaxBuckets may be read.
template <int kBuckets, class D, class VI>
HWY_INLINE hn::Vec<D> Lookup(D d, const float* table, VI index) {
  if constexpr (kBuckets == 1) return hn::Set(d, table[0]);
  if constexpr (kBuckets > 16) return hn::GatherIndex(d, table, index);
#if HWY_TARGET == HWY_AVX2
  if constexpr (kBuckets <= 8)
    return hn::TableLookupLanes(hn::LoadU(d, table), hn::IndicesFromVec(d, index));
  const hn::RebindToSigned<D> di;
  const auto lane = hn::IndicesFromVec(d, hn::And(index, hn::Set(di, 7)));
  const auto upper = hn::RebindMask(d, hn::Gt(index, hn::Set(di, 7)));
  return hn::IfThenElse(upper, hn::TableLookupLanes(hn::LoadU(d, table + 8), lane),
                        hn::TableLookupLanes(hn::LoadU(d, table), lane));
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return hn::TableLookupLanes(hn::LoadU(d, table), hn::IndicesFromVec(d, index));
#else
  return hn::GatherIndex(d, table, index);
#endif
}

template <class D, class V>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> BucketOf(D d, V x, const float* threshold, int buckets) {
  const hn::RebindToSigned<D> di;
  auto bucket = hn::Zero(di);
  for (int k = 1; k < buckets; ++k) {
    const auto above = hn::Ge(x, hn::Set(d, threshold[k]));
    bucket = hn::Sub(bucket, hn::VecFromMask(di, hn::RebindMask(di, above)));  // a true lane is -1
  }
  return bucket;
}

// Codes of one vector. A template on the number of buckets, so that the comparisons unroll.
template <int kBuckets, class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> CodesOf(D d, const float* in, const float* threshold,
                                                  const float* minimum, const float* inverse,
                                                  int step_bits) {
  const auto x = hn::LoadU(d, in);
  const auto bucket = BucketOf(d, x, threshold, kBuckets);
  const auto offset = hn::Sub(x, Lookup<kBuckets>(d, minimum, bucket));
  const auto number = hn::NearestInt(hn::Mul(offset, Lookup<kBuckets>(d, inverse, bucket)));
  return hn::Or(hn::ShiftLeftSame(bucket, step_bits), number);
}

template <int kBuckets>
void QuantizeBuckets(const float* in, int64_t count, const BucketScale& scale,
                     const Thresholds& threshold, const float* inverse, uint16_t* codes) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto step = [&](const float* from, uint16_t* to) {
    const auto code = CodesOf<kBuckets>(d, from, threshold.data(), scale.minimum.data(), inverse,
                                        scale.step_bits);
    hn::StoreU(hn::DemoteTo(d16, code), d16, to);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hwy::Prefetch(in + i + kAhead);
    step(in + i, codes + i);
  }
  if (i == count) return;
  // The last vector is padded with one of its own values: any other might lie outside its bucket.
  float last[HWY_MAX_BYTES / sizeof(float)];
  uint16_t last_codes[HWY_MAX_BYTES / sizeof(float)];
  std::fill(std::copy(in + i, in + count, last), last + lanes, in[i]);
  step(last, last_codes);
  std::copy(last_codes, last_codes + (count - i), codes + i);
}

// Calls f with the number of buckets as a constant.
template <class F>
void VisitBuckets(int buckets, const F& f) {
  [&]<int... kBits>(std::integer_sequence<int, kBits...>) {
    (void)((buckets == 1 << kBits && (f(std::integral_constant<int, (1 << kBits)>{}), true)) ||
           ...);
  }
  (std::make_integer_sequence<int, 7>{});
}

void QuantizeAny(const float* in, int64_t count, const BucketScale& scale,
                 const Thresholds& threshold, uint16_t* codes) {
  std::array<float, kMaxBuckets> inverse;
  for (int k = 0; k < kMaxBuckets; ++k) inverse[k] = scale.step[k] > 0 ? 1 / scale.step[k] : 0;
  VisitBuckets(scale.buckets, [&](auto buckets) {
    QuantizeBuckets<buckets>(in, count, scale, threshold, inverse.data(), codes);
  });
}

template <int kBuckets>
void DequantizeBuckets(const uint16_t* codes, int64_t count, const BucketScale& scale, float* out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::Set(di, (1 << scale.step_bits) - 1);
  const auto step = [&](const uint16_t* from, float* to) {
    const auto code = hn::PromoteTo(di, hn::LoadU(d16, from));
    const auto bucket = hn::ShiftRightSame(code, scale.step_bits);
    const auto number = hn::ConvertTo(d, hn::And(code, mask));
    hn::StoreU(hn::MulAdd(number, Lookup<kBuckets>(d, scale.step.data(), bucket),
                          Lookup<kBuckets>(d, scale.minimum.data(), bucket)),
               d, to);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) step(codes + i, out + i);
  if (i == count) return;
  uint16_t last_codes[HWY_MAX_BYTES / sizeof(float)] = {};
  float last[HWY_MAX_BYTES / sizeof(float)];
  std::copy(codes + i, codes + count, last_codes);
  step(last_codes, last);
  std::copy(last, last + (count - i), out + i);
}

void DequantizeAny(const uint16_t* codes, int64_t count, const BucketScale& scale, float* out) {
  VisitBuckets(scale.buckets,
               [&](auto buckets) { DequantizeBuckets<buckets>(codes, count, scale, out); });
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {

HWY_EXPORT(QuantizeAny);
HWY_EXPORT(DequantizeAny);

void Quantize(const float* in, int64_t count, const BucketScale& scale, const Thresholds& threshold,
              uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(QuantizeAny)(in, count, scale, threshold, codes);
}

void QuantizeWide(const float* in, int64_t count, const BucketScale& scale,
                  const Thresholds& threshold, uint16_t* codes) {
  for (int64_t i = 0; i < count; ++i) {
    int bucket = 0;
    while (bucket + 1 < scale.buckets && in[i] >= threshold[bucket + 1]) ++bucket;
    const double offset = double{in[i]} - double{scale.minimum[bucket]};
    const double step = double{scale.step[bucket]};
    // One step of a range beyond the greatest float is shorter than the range (BucketStep).
    const double most = (1 << scale.step_bits) - 1;
    const double near = step > 0 ? std::min(std::nearbyint(offset / step), most) : 0;
    const auto number = static_cast<uint32_t>(near);
    codes[i] = static_cast<uint16_t>(static_cast<uint32_t>(bucket) << scale.step_bits | number);
  }
}

void Dequantize(const uint16_t* codes, int64_t count, const BucketScale& scale, float* out) {
  HWY_DYNAMIC_DISPATCH(DequantizeAny)(codes, count, scale, out);
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
