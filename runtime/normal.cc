#include "runtime/normal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/normal.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <cmath>
#include <numbers>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using Halves = hn::Rebind<float, D>;

// As UnitOf, of both words in one lane.
HWY_INLINE V Unit(D d, hn::Vec<hn::Rebind<uint64_t, D>> words) {
  const hn::Rebind<int64_t, D> whole;
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(whole, hn::ShiftRight<11>(words))),
                 hn::Set(d, 0x1p-53));
}

// Sets `unsure` if another value within `error` of x may round to another float.
HWY_INLINE hn::Vec<Halves> Rounded(V x, V error, bool& unsure) {
  const Halves half;
  const auto low = hn::DemoteTo(half, hn::Sub(x, error));
  unsure |= !hn::AllTrue(half, hn::Eq(low, hn::DemoteTo(half, hn::Add(x, error))));
  return low;
}

// Writes the pairs of as many blocks as D has lanes. Returns false if a last bit is unsure.
HWY_INLINE bool Group(D d, const uint32_t* words, double mean, double stddev, float* out) {
  const hn::Rebind<uint64_t, D> joined;
  hn::Vec<decltype(joined)> first, second;
  hn::LoadInterleaved2(joined, reinterpret_cast<const uint64_t*>(words), first, second);
  const V log = hn::Log(d, hn::Sub(hn::Set(d, 1.0), Unit(d, first)));
  const V radius = hn::Mul(hn::Sqrt(hn::Mul(hn::Set(d, -2.0), log)), hn::Set(d, stddev));
  const V angle = hn::Mul(hn::Set(d, 2 * std::numbers::pi), Unit(d, second));
  // Highway's functions are accurate to 4 ulp, so the error is far below 2^-46 of the largest term.
  const V error =
      hn::Mul(hn::Add(hn::Abs(radius), hn::Set(d, std::abs(mean))), hn::Set(d, 0x1p-46));
  bool unsure = false;
  const auto all = [&](V z) HWY_ATTR {
    return Rounded(hn::MulAdd(radius, z, hn::Set(d, mean)), error, unsure);
  };
  const auto cosine = all(hn::Cos(d, angle)), sine = all(hn::Sin(d, angle));
  hn::StoreInterleaved2(cosine, sine, Halves(), out);
  return !unsure;
}

void NormalPairsF32(const uint32_t* words, int64_t pairs, double mean, double stddev, float* out) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t at = 0; at < pairs; at += lanes) {
    if (at + lanes <= pairs && Group(d, words + 4 * at, mean, stddev, out + 2 * at)) continue;
    for (int64_t i = at; i < at + lanes && i < pairs; ++i) {
      const auto [a, b] = NormalPair(words + 4 * i);
      out[2 * i] = static_cast<float>(mean + stddev * a);
      out[2 * i + 1] = static_cast<float>(mean + stddev * b);
    }
  }
}

}  // namespace torus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus {

HWY_EXPORT(NormalPairsF32);

std::array<double, 2> NormalPair(const uint32_t* words) {
  // 1 - u lies in (0, 1], so the logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - UnitOf(words[0], words[1])));
  const double angle = 2 * std::numbers::pi * UnitOf(words[2], words[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

void NormalPairs(const uint32_t* words, int64_t pairs, double mean, double stddev, float* out) {
  HWY_DYNAMIC_DISPATCH(NormalPairsF32)(words, pairs, mean, stddev, out);
}

}  // namespace torus
#endif  // HWY_ONCE
