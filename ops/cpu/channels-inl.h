// Loops of the channels-last float kernels, compiled once for every vector width; include it after
// hwy/highway.h.
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"

// The guard toggles with each pass of foreach_target.h.
#if defined(TORUS_OPS_CPU_CHANNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORUS_OPS_CPU_CHANNELS_INL_H_
#undef TORUS_OPS_CPU_CHANNELS_INL_H_
#else
#define TORUS_OPS_CPU_CHANNELS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body(d, c) over channels [begin, channels). At the end, vectors of ever half the width keep
// reads and writes within the channels.
template <class D, class Body>
HWY_INLINE void OverChannels(D d, int64_t begin, int64_t channels, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = begin;
  for (; c + lanes <= channels; c += lanes) body(d, c);
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (c < channels) OverChannels(hn::Half<D>(), c, channels, body);
  }
}

// Calls body(integral_constant<int, kGroup>, first) for groups of kGroup items, then of half as
// many, down to one.
template <int kGroup, class Body>
HWY_INLINE void InGroups(int64_t first, int64_t count, const Body& body) {
  for (; first + kGroup <= count; first += kGroup)
    body(std::integral_constant<int, kGroup>(), first);
  if constexpr (kGroup > 1) {
    if (first < count) InGroups<kGroup / 2>(first, count, body);
  }
}

// Calls body(integral_constant<int, n>, first) for groups of kGroup items, and once for the rest,
// if any, of n < kGroup.
template <int kGroup, int kRest = kGroup - 1, class Body>
HWY_INLINE void InExactGroups(int64_t first, int64_t count, const Body& body) {
  if constexpr (kRest == kGroup - 1)
    for (; first + kGroup <= count; first += kGroup)
      body(std::integral_constant<int, kGroup>(), first);
  if constexpr (kRest > 0) {
    if (count - first == kRest)
      body(std::integral_constant<int, kRest>(), first);
    else
      InExactGroups<kGroup, kRest - 1>(first, count, body);
  }
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
