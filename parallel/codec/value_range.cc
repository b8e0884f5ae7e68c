#include "parallel/codec/value_range.h"

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "runtime/parallel_for.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/codec/value_range.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// There is at least one value. Four accumulators, since a comparison takes several cycles. A value
// is not finite if its exponent is all ones.
ValueRange RangeOfPart(const float* in, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto exponent = hn::Set(di, 0x7f800000);
  auto least0 = hn::Set(d, in[0]), least1 = least0, greatest0 = least0, greatest1 = least0;
  auto widest0 = hn::Zero(di), widest1 = widest0;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto a = hn::LoadU(d, in + i), b = hn::LoadU(d, in + i + lanes);
    least0 = hn::Min(least0, a);
    least1 = hn::Min(least1, b);
    greatest0 = hn::Max(greatest0, a);
    greatest1 = hn::Max(greatest1, b);
    widest0 = hn::Max(widest0, hn::And(hn::BitCast(di, a), exponent));
    widest1 = hn::Max(widest1, hn::And(hn::BitCast(di, b), exponent));
  }
  ValueRange range{hn::GetLane(hn::MinOfLanes(d, hn::Min(least0, least1))),
                   hn::GetLane(hn::MaxOfLanes(d, hn::Max(greatest0, greatest1)))};
  const auto widest = hn::Max(widest0, widest1);
  bool finite = hn::AllFalse(di, hn::Eq(widest, exponent));
  for (; i < count; ++i) {
    range.least = std::min(range.least, in[i]);
    range.greatest = std::max(range.greatest, in[i]);
    finite = finite && in[i] - in[i] == 0;
  }
  range.finite = finite;
  return range;
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {

HWY_EXPORT(RangeOfPart);

ValueRange RangeOf(std::span<const float> values) {
  constexpr int64_t kGrain = 1 << 15;  // fewer are not worth waking a thread
  if (values.empty()) return {};
  std::mutex mutex;
  ValueRange all{values[0], values[0]};
  ParallelFor(static_cast<int64_t>(values.size()), kGrain, [&](int64_t begin, int64_t end) {
    const ValueRange part = HWY_DYNAMIC_DISPATCH(RangeOfPart)(values.data() + begin, end - begin);
    const std::lock_guard lock(mutex);
    all.least = std::min(all.least, part.least);
    all.greatest = std::max(all.greatest, part.greatest);
    all.finite = all.finite && part.finite;
  });
  all.least += 0.0f;  // -0 to 0: among zeros of both signs each vector width may find another
  all.greatest += 0.0f;
  return all;
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
