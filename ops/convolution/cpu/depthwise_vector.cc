#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/convolution/cpu/depthwise_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>
#include <type_traits>

#include "hwy/highway.h"
#include "ops/convolution/cpu/depthwise_vector.h"
#include "ops/cpu/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

// Adds taps t, t + 1 and t + 2, each of which reads one pixel further than the previous one.
// Neighbouring columns share loads: ten loads for 24 products.
template <int kColumns, class D, class V>
HWY_INLINE void AddTriple(D d, const DepthwiseTap* taps, int64_t first, int64_t step, int64_t c,
                          V* sum) {
  V weight[3];
  for (int t = 0; t < 3; ++t) weight[t] = hn::LoadU(d, taps[t].weight + c);
  const float* const in = taps[0].in + first + c;
  for (int i = 0; i < kColumns + 2; ++i) {
    const V x = hn::LoadU(d, in + i * step);
    for (int t = 0; t < 3; ++t)
      if (i - t >= 0 && i - t < kColumns) sum[i - t] = hn::MulAdd(weight[t], x, sum[i - t]);
  }
}

// Eight columns of one vector of channels at a time: enough independent sums to hide the latency of
// a fused multiply-add, and each weight is loaded once for eight of them.
template <bool kMasked, bool kTriples>
void DepthwiseColumns(const DepthwiseTap* taps, int count, const float* bias, int64_t columns,
                      int64_t channels, int64_t in_step, int64_t out_step, float* out,
                      const DepthwiseMask& mask) {
  InExactGroups<8>(0, columns, [&](auto group, int64_t j) HWY_ATTR {
    constexpr int kColumns = decltype(group)::value;
    OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
      using V = hn::Vec<decltype(d)>;
      V sum[kColumns];
      const V start = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + c);
      for (int i = 0; i < kColumns; ++i) sum[i] = start;
      for (int t = 0; t < count; t += kTriples ? 3 : 1) {
        if constexpr (kTriples) {
          AddTriple<kColumns>(d, taps + t, j * in_step, in_step, c, sum);
        } else {
          const V weight = hn::LoadU(d, taps[t].weight + c);
          const float* in = taps[t].in + j * in_step + c;
          for (int i = 0; i < kColumns; ++i)
            sum[i] = hn::MulAdd(weight, hn::LoadU(d, in + i * in_step), sum[i]);
        }
      }
      if constexpr (kMasked) {
        const V low = hn::Set(d, mask.low), high = hn::Set(d, mask.high);
        V total = hn::LoadU(d, mask.sum + c);
        for (int i = 0; i < kColumns; ++i) {
          const V t = hn::LoadU(d, mask.activation + (j + i) * out_step + c);
          sum[i] = hn::IfThenElseZero(hn::And(hn::Lt(low, t), hn::Lt(t, high)), sum[i]);
          total = hn::Add(total, sum[i]);
        }
        hn::StoreU(total, d, mask.sum + c);
      }
      for (int i = 0; i < kColumns; ++i) hn::StoreU(sum[i], d, out + (j + i) * out_step + c);
    });
  });
}

bool InTriples(const DepthwiseTap* taps, int count, int64_t step) {
  if (count % 3 != 0) return false;
  for (int t = 0; t < count; ++t)
    if (taps[t].in != taps[t / 3 * 3].in + t % 3 * step) return false;
  return true;
}

void DepthwiseRowF32(const DepthwiseTap* taps, int count, const float* bias, int64_t columns,
                     int64_t channels, int64_t in_step, int64_t out_step, float* out,
                     const DepthwiseMask* mask) {
  const auto run = [&](auto masked, auto triples) {
    DepthwiseColumns<masked, triples>(taps, count, bias, columns, channels, in_step, out_step, out,
                                      masked ? *mask : DepthwiseMask());
  };
  const auto with_mask = [&](auto masked) {
    InTriples(taps, count, in_step) ? run(masked, std::true_type())
                                    : run(masked, std::false_type());
  };
  mask == nullptr ? with_mask(std::false_type()) : with_mask(std::true_type());
}

// kTaps sums stay in registers over up to 16 columns, which stay in the first-level cache for the
// next channels.
template <int kTaps>
void WeightTaps(const DepthwiseWeightTap* taps, const float* dy, int64_t columns, int64_t channels,
                int64_t in_step) {
  for (int64_t first = 0; first < columns; first += 16) {
    const int64_t end = std::min(columns, first + 16);
    OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
      using V = hn::Vec<decltype(d)>;
      V sum[kTaps];
      for (int t = 0; t < kTaps; ++t) sum[t] = hn::LoadU(d, taps[t].sum + c);
      for (int64_t j = first; j < end; ++j) {
        const V grad = hn::LoadU(d, dy + j * channels + c);
        for (int t = 0; t < kTaps; ++t)
          sum[t] = hn::MulAdd(grad, hn::LoadU(d, taps[t].in + j * in_step + c), sum[t]);
      }
      for (int t = 0; t < kTaps; ++t) hn::StoreU(sum[t], d, taps[t].sum + c);
    });
  }
}

void DepthwiseWeightRowF32(const DepthwiseWeightTap* taps, int count, const float* dy,
                           int64_t columns, int64_t channels, int64_t in_step) {
  int t = 0;
  for (; t + 9 <= count; t += 9) WeightTaps<9>(taps + t, dy, columns, channels, in_step);
  for (; t + 3 <= count; t += 3) WeightTaps<3>(taps + t, dy, columns, channels, in_step);
  for (; t < count; ++t) WeightTaps<1>(taps + t, dy, columns, channels, in_step);
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(DepthwiseRowF32);
HWY_EXPORT(DepthwiseWeightRowF32);

void DepthwiseRow(const DepthwiseTap* taps, int count, const float* bias, int64_t columns,
                  int64_t channels, int64_t in_step, int64_t out_step, float* out,
                  const DepthwiseMask* mask) {
  HWY_DYNAMIC_DISPATCH(DepthwiseRowF32)
  (taps, count, bias, columns, channels, in_step, out_step, out, mask);
}

void DepthwiseWeightRow(const DepthwiseWeightTap* taps, int count, const float* dy, int64_t columns,
                        int64_t channels, int64_t in_step) {
  HWY_DYNAMIC_DISPATCH(DepthwiseWeightRowF32)(taps, count, dy, columns, channels, in_step);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
