#include "runtime/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/philox.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>

#include "hwy/highway.h"

// Philox's constants (Salmon et al., table 2 and section 4.3).
#ifndef TORUS_RUNTIME_PHILOX_CONSTANTS_
#define TORUS_RUNTIME_PHILOX_CONSTANTS_
namespace torus {
namespace {
constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t kWeyl0 = 0x9E3779B9u;  // golden ratio
constexpr uint32_t kWeyl1 = 0xBB67AE85u;  // sqrt(3) - 1
}  // namespace
}  // namespace torus
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<uint64_t>;
using V = hn::Vec<D>;

// One block per lane. The lower 32 bits of each lane are a word of the counter. The products read
// no other bits, so the upper bits may be anything.
struct Blocks {
  V c0, c1, c2, c3;
};

HWY_INLINE V Product(D d, V word, uint32_t multiplier) {
  const hn::Repartition<uint32_t, D> words;
  return hn::MulEven(hn::BitCast(words, word), hn::BitCast(words, hn::Set(d, multiplier)));
}

// The keys of all rounds, in memory, because the counters need the registers.
struct RoundKeys {
  RoundKeys(D d, PhiloxKey key) {
    for (int round = 0; round < kRounds; ++round) {
      hn::Store(hn::Set(d, key[0]), d, first[round]);
      hn::Store(hn::Set(d, key[1]), d, second[round]);
      key[0] += kWeyl0;
      key[1] += kWeyl1;
    }
  }
  HWY_ALIGN uint64_t first[kRounds][hn::MaxLanes(D())], second[kRounds][hn::MaxLanes(D())];
};

HWY_INLINE void Round(D d, const RoundKeys& keys, int round, Blocks& b) {
  const V x = Product(d, b.c0, kMultiplier0), y = Product(d, b.c2, kMultiplier1);
  b.c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(y), b.c1), hn::Load(d, keys.first[round]));
  b.c1 = y;
  b.c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(x), b.c3), hn::Load(d, keys.second[round]));
  b.c3 = x;
}

HWY_INLINE void Store(D d, const Blocks& b, uint32_t* words) {
  const auto join = [&](V low, V high) HWY_ATTR {
    return hn::Or(hn::And(low, hn::Set(d, 0xFFFFFFFFu)), hn::ShiftLeft<32>(high));
  };
  hn::StoreInterleaved2(join(b.c0, b.c1), join(b.c2, b.c3), d, reinterpret_cast<uint64_t*>(words));
}

// Several vectors at once hide the latency of the products.
constexpr int kVectors = 2;

HWY_INLINE void Group(D d, uint64_t first, uint64_t high, const RoundKeys& keys, uint32_t* words) {
  const uint64_t lanes = hn::Lanes(d);
  Blocks b[kVectors];
  for (int i = 0; i < kVectors; ++i) {
    const V low = hn::Add(hn::Iota(d, 0), hn::Set(d, first + static_cast<uint64_t>(i) * lanes));
    b[i] = {low, hn::ShiftRight<32>(low), hn::Set(d, high), hn::Set(d, high >> 32)};
  }
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kVectors; ++i) Round(d, keys, round, b[i]);
  for (int i = 0; i < kVectors; ++i) Store(d, b[i], words + 4 * lanes * static_cast<uint64_t>(i));
}

void PhiloxGroups(uint64_t first, uint64_t high, PhiloxKey key, int64_t count, uint32_t* words) {
  const D d;
  const RoundKeys keys(d, key);
  const int64_t group = kVectors * static_cast<int64_t>(hn::Lanes(d));
  for (; count >= group; count -= group, first += static_cast<uint64_t>(group), words += 4 * group)
    Group(d, first, high, keys, words);
  if (count == 0) return;
  HWY_ALIGN uint32_t rest[4 * kVectors * hn::MaxLanes(D())];
  Group(d, first, high, keys, rest);
  std::copy_n(rest, 4 * count, words);
}

}  // namespace torus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus {

HWY_EXPORT(PhiloxGroups);

void PhiloxBlocks(uint64_t first, uint64_t high, PhiloxKey key, int64_t count, uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(PhiloxGroups)(first, high, key, count, words);
}

PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = uint64_t{kMultiplier0} * counter[0];
    const uint64_t b = uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

}  // namespace torus
#endif  // HWY_ONCE
