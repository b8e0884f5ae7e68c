#include "parallel/codec/nearest_number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/codec/nearest_number.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The product in float64, rounded to float32.
template <class D, class V>
HWY_INLINE V Product(D d, V x, double factor) {
  const hn::Repartition<double, D> wide;
  const hn::Half<D> half;
  const auto by = hn::Set(wide, factor);
  const auto lower = hn::Mul(hn::PromoteTo(wide, hn::LowerHalf(half, x)), by);
  const auto upper = hn::Mul(hn::PromoteTo(wide, hn::UpperHalf(half, x)), by);
  return hn::Combine(d, hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
}

template <class D, class V>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> PlaceOf(D d, V x, const int32_t* first,
                                                  const float* middles) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  // All bits of a negative value are flipped, of another only the sign.
  const auto flipped = hn::Or(hn::BroadcastSignBit(bits), hn::Set(di, INT32_MIN));
  const hn::RebindToUnsigned<D> du;
  const auto key = hn::ShiftRight<NearestNumber::kShift>(hn::BitCast(du, hn::Xor(bits, flipped)));
  auto place = hn::GatherIndex(di, first, hn::BitCast(di, key));
  for (;;) {
    const auto above = hn::Gt(x, hn::GatherIndex(d, middles, place));
    if (hn::AllFalse(d, above)) return place;
    place = hn::Sub(place, hn::VecFromMask(di, hn::RebindMask(di, above)));  // a true lane is -1
  }
}

void FindPlaces(const float* in, int64_t count, double factor, const int32_t* first,
                const float* middles, uint16_t* places) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto step = [&](const float* from, uint16_t* to) HWY_ATTR {
    auto x = hn::LoadU(d, from);
    if (factor != 1) x = Product(d, x, factor);
    hn::StoreU(hn::DemoteTo(d16, PlaceOf(d, x, first, middles)), d16, to);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) step(in + i, places + i);
  if (i == count) return;
  float last[HWY_MAX_BYTES / sizeof(float)] = {};
  uint16_t found[HWY_MAX_BYTES / sizeof(float)];
  std::copy(in + i, in + count, last);
  step(last, found);
  std::copy(found, found + (count - i), places + i);
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The greatest float32 that is at most the middle of the two.
float MiddleOf(float below, float above) {
  const double exact = (double{below} + double{above}) / 2;
  const float near = static_cast<float>(exact);
  return double{near} > exact ? std::nextafter(near, -kInfinity) : near;
}

// The least value of a table's entry.
float LeastOf(uint32_t entry) {
  const uint32_t key = entry << NearestNumber::kShift;
  return std::bit_cast<float>(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu));
}

}  // namespace

NearestNumber::NearestNumber(std::span<const float> numbers) : first_(1u << (32 - kShift)) {
  TORUS_CHECK(!numbers.empty() && numbers.size() <= 256, "{} numbers", numbers.size());
  for (size_t i = 0; i + 1 < numbers.size(); ++i)
    middles_.push_back(MiddleOf(numbers[i], numbers[i + 1]));
  middles_.push_back(kInfinity);
  for (uint32_t entry = 0; entry < first_.size(); ++entry) {
    const float least = LeastOf(entry);
    // The entries of NaNs are never looked up.
    const auto at = std::ranges::lower_bound(middles_, std::isnan(least) ? 0 : least);
    first_[entry] = static_cast<int32_t>(at - middles_.begin());
  }
}

HWY_EXPORT(FindPlaces);

void NearestNumber::Find(std::span<const float> values, double factor, uint16_t* places) const {
  HWY_DYNAMIC_DISPATCH(FindPlaces)
  (values.data(), static_cast<int64_t>(values.size()), factor, first_.data(), middles_.data(),
   places);
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
