#include "parallel/codec/count_and_gather.h"

#include <algorithm>

#include "runtime/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/codec/count_and_gather.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kAhead = 512;  // values prefetched

// A value is in an even-numbered region if it is at least an odd number of thresholds.
template <int kThresholds>
class Block {
  static constexpr hn::ScalableTag<float> d{};
  static constexpr hn::RebindToSigned<decltype(d)> di{};
  static constexpr hn::RebindToUnsigned<decltype(d)> du{};

 public:
  Block(const float* thresholds, uint32_t* at_least, Gathered& gathered)
      : thresholds_(thresholds), at_least_(at_least), gathered_(gathered) {}

  HWY_INLINE void Run(const float* in, int64_t begin, int64_t end) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    hn::Vec<decltype(di)> counts[kThresholds];
    for (auto& count : counts) count = hn::Zero(di);
    auto widest = hn::Zero(di);
    auto least = hn::Set(d, in[begin]), greatest = least;
    auto index = hn::Iota(du, static_cast<uint32_t>(begin));
    int64_t i = begin, found = gathered_.count;
    for (; i + lanes <= end; i += lanes) {
      hwy::Prefetch(in + i + kAhead);
      const auto x = hn::LoadU(d, in + i);
      widest = hn::Max(widest, hn::And(hn::BitCast(di, x), hn::Set(di, 0x7fffffff)));
      least = hn::Min(least, x);
      greatest = hn::Max(greatest, x);
      found += Keep(x, index, Compare(x, counts), found);
      index = hn::Add(index, hn::Set(du, static_cast<uint32_t>(lanes)));
    }
    gathered_.count = found;
    for (int t = 0; t < kThresholds; ++t)
      at_least_[t] = static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(di, counts[t])));
    const int32_t most = hn::GetLane(hn::MaxOfLanes(di, widest));
    gathered_.finite = gathered_.finite && most < 0x7f800000;
    const int64_t block = begin / kGatherBlock;
    See(hn::GetLane(hn::MinOfLanes(d, least)), block);
    See(hn::GetLane(hn::MaxOfLanes(d, greatest)), block);
    for (; i < end; ++i) {
      One(in[i], static_cast<uint32_t>(i));
      See(in[i], block);
    }
  }

 private:
  using Mask = hn::Mask<decltype(d)>;

  // Adds to the counts; returns where to gather.
  template <class V, class C>
  HWY_INLINE Mask Compare(V x, C& counts) const {
    auto odd = hn::Zero(di);
    for (int t = 0; t < kThresholds; ++t) {
      const auto above =
          hn::VecFromMask(di, hn::RebindMask(di, hn::Ge(x, hn::Set(d, thresholds_[t]))));
      counts[t] = hn::Sub(counts[t], above);  // a true lane is -1
      odd = hn::Xor(odd, above);
    }
    return hn::RebindMask(d, hn::MaskFromVec(odd));
  }

  // Returns how many.
  template <class V, class I>
  HWY_INLINE int64_t Keep(V x, I index, Mask mask, int64_t at) {
    hn::StoreU(hn::Compress(x, mask), d, gathered_.values + at);
    hn::StoreU(hn::Compress(index, hn::RebindMask(du, mask)), du, gathered_.indices + at);
    return static_cast<int64_t>(hn::CountTrue(d, mask));
  }

  void See(float value, int64_t block) {
    Extreme &least = gathered_.least, &greatest = gathered_.greatest;
    if (least.block < 0 || value < least.value) least = {value, block};
    if (greatest.block < 0 || value >= greatest.value) greatest = {value, block};
  }

  void One(float x, uint32_t index) {
    bool odd = false;
    for (int t = 0; t < kThresholds; ++t) {
      at_least_[t] += x >= thresholds_[t];
      odd ^= x >= thresholds_[t];
    }
    gathered_.values[gathered_.count] = x;
    gathered_.indices[gathered_.count] = index;
    gathered_.count += odd;
    gathered_.finite = gathered_.finite && x - x == 0;
  }

  const float* thresholds_;
  uint32_t* at_least_;
  Gathered& gathered_;
};

template <int kThresholds>
void GatherWith(const float* in, int64_t begin, int64_t end, const float* thresholds,
                uint32_t* at_least, Gathered& gathered) {
  for (int64_t i = begin; i < end; i += kGatherBlock, at_least += kThresholds) {
    if (gathered.count + kGatherBlock > gathered.room) {
      gathered.fits = false;
      return;
    }
    Block<kThresholds>(thresholds, at_least, gathered).Run(in, i, std::min(end, i + kGatherBlock));
  }
}

void GatherAny(const float* in, int64_t begin, int64_t end, const float* thresholds, int count,
               uint32_t* at_least, Gathered& gathered) {
  switch (count) {
    case 2:
      return GatherWith<2>(in, begin, end, thresholds, at_least, gathered);
    case 4:
      return GatherWith<4>(in, begin, end, thresholds, at_least, gathered);
    case 6:
      return GatherWith<6>(in, begin, end, thresholds, at_least, gathered);
    case 8:
      return GatherWith<8>(in, begin, end, thresholds, at_least, gathered);
    case 12:
      return GatherWith<12>(in, begin, end, thresholds, at_least, gathered);
    case 16:
      return GatherWith<16>(in, begin, end, thresholds, at_least, gathered);
    case 20:
      return GatherWith<20>(in, begin, end, thresholds, at_least, gathered);
  }
  TORUS_CHECK(false, "{} thresholds", count);
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {

HWY_EXPORT(GatherAny);

void CountAndGather(const float* in, int64_t begin, int64_t end, std::span<const float> thresholds,
                    uint32_t* at_least, Gathered& gathered) {
  HWY_DYNAMIC_DISPATCH(GatherAny)
  (in, begin, end, thresholds.data(), static_cast<int>(thresholds.size()), at_least, gathered);
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
