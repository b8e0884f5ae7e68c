#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv_chain/cpu/expand_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/conv_chain/cpu/expand_vector.h"
#include "ops/cpu/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

struct ExpandArgs {
  const float* x;
  int64_t k;
  const float* weight;
  int64_t channels;
  const float* bias;
  float low, high;
  float* out;
};

// kRows x kVectors sums in registers, from row r and channel c on.
template <int kRows, int kVectors, class D>
HWY_INLINE void ExpandTile(D d, const ExpandArgs& a, int64_t r, int64_t c) {
  using V = hn::Vec<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V sum[kRows][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const V start = hn::LoadU(d, a.bias + c + v * lanes);
    for (int i = 0; i < kRows; ++i) sum[i][v] = start;
  }
  const float* const x = a.x + r * a.k;
  for (int64_t k = 0; k < a.k; ++k) {
    V weight[kVectors];
    for (int v = 0; v < kVectors; ++v)
      weight[v] = hn::LoadU(d, a.weight + k * a.channels + c + v * lanes);
    for (int i = 0; i < kRows; ++i) {
      const V value = hn::Set(d, x[i * a.k + k]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(value, weight[v], sum[i][v]);
    }
  }
  const V low = hn::Set(d, a.low), high = hn::Set(d, a.high);
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectors; ++v)  // in this order NaN passes
      hn::StoreU(hn::Min(high, hn::Max(low, sum[i][v])), d,
                 a.out + (r + i) * a.channels + c + v * lanes);
}

void ExpandRowsF32(const float* x, int64_t rows, int64_t k, const float* weight, int64_t channels,
                   const float* bias, const Clamp& clamp, float* out) {
  const ExpandArgs args{
      x,  k, weight, channels, bias, static_cast<float>(clamp.low), static_cast<float>(clamp.high),
      out};
  const hn::ScalableTag<float> d;
  const int64_t pair = 2 * static_cast<int64_t>(hn::Lanes(d));
  const int64_t paired = channels / pair * pair;
  // Six rows of two vectors: twelve sums hide the latency of a multiply-add and fill AVX2's
  // registers with their operands.
  InExactGroups<6>(0, rows, [&](auto group, int64_t r) HWY_ATTR {
    for (int64_t c = 0; c < paired; c += pair) ExpandTile<group, 2>(d, args, r, c);
    OverChannels(d, paired, channels,
                 [&](auto part, int64_t c) HWY_ATTR { ExpandTile<group, 1>(part, args, r, c); });
  });
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(ExpandRowsF32);

void ExpandRows(const float* x, int64_t rows, int64_t k, const float* weight, int64_t channels,
                const float* bias, const Clamp& clamp, float* out) {
  HWY_DYNAMIC_DISPATCH(ExpandRowsF32)(x, rows, k, weight, channels, bias, clamp, out);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
