#include "parallel/codec/bit_pack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

static_assert(std::endian::native == std::endian::little, "streams are copied, not swapped");

// Eight codes fill whole bytes at every width: `bits` bytes.
constexpr int kGroup = 8;
constexpr size_t kWord =
    2 * sizeof(uint64_t);  // a group's bytes, and some that the next overwrites

using Codes = std::array<uint64_t, 2>;  // eight of 16 bits, or their packed bits

// Packs four 16-bit codes into the lower 4 b bits.
template <int b>
uint64_t Squeeze(uint64_t four) {
  const uint64_t pairs = (four & 0x0000ffff0000ffffu) | ((four & 0xffff0000ffff0000u) >> (16 - b));
  return (pairs & 0xffffffffu) | (pairs >> 32 << 2 * b);
}

template <int b>
uint64_t Spread(uint64_t packed) {
  constexpr uint64_t kCode = (uint64_t{1} << b) - 1, kPair = (uint64_t{1} << 2 * b) - 1;
  constexpr uint64_t kLow = kCode | kCode << 32;
  const uint64_t pairs = (packed & kPair) | (packed >> 2 * b & kPair) << 32;
  return (pairs & kLow) | (pairs & kLow << b) << (16 - b);
}

template <int b>
Codes PackGroup(Codes codes) {
  const uint64_t low = Squeeze<b>(codes[0]), high = Squeeze<b>(codes[1]);
  return {low | high << 4 * b, high >> (64 - 4 * b)};
}

template <int b>
Codes UnpackGroup(Codes packed) {
  constexpr uint64_t kFour = (uint64_t{1} << 4 * b) - 1;
  const uint64_t high = packed[0] >> 4 * b | packed[1] << (64 - 4 * b);
  return {Spread<b>(packed[0] & kFour), Spread<b>(high & kFour)};
}

// How many groups may be read or written as whole words. The last ones may not: there are too few
// bytes after them.
template <int b>
int64_t WholeWords(int64_t count) {
  const int64_t bytes = static_cast<int64_t>(PackedBytes(count, b));
  const int64_t spare = bytes - static_cast<int64_t>(kWord);
  return spare < 0 ? 0 : std::min(count / kGroup, spare / b + 1);
}

template <int b>
void Pack(const uint16_t* codes, int64_t count, std::byte* out) {
  const int64_t whole = WholeWords<b>(count);
  for (int64_t g = 0; g < whole; ++g) {
    Codes group;
    std::memcpy(&group, codes + g * kGroup, sizeof(group));
    group = PackGroup<b>(group);
    std::memcpy(out + g * b, &group, sizeof(group));
  }
  for (int64_t i = whole * kGroup; i < count; i += kGroup) {
    const int64_t rest = std::min<int64_t>(kGroup, count - i);
    Codes group{};
    std::memcpy(&group, codes + i, sizeof(uint16_t) * rest);
    group = PackGroup<b>(group);
    std::memcpy(out + i / kGroup * b, &group, PackedBytes(rest, b));
  }
}

template <int b>
void Unpack(const std::byte* in, int64_t count, uint16_t* codes) {
  const int64_t whole = WholeWords<b>(count);
  for (int64_t g = 0; g < whole; ++g) {
    Codes group;
    std::memcpy(&group, in + g * b, sizeof(group));
    group = UnpackGroup<b>(group);
    std::memcpy(codes + g * kGroup, &group, sizeof(group));
  }
  for (int64_t i = whole * kGroup; i < count; i += kGroup) {
    const int64_t rest = std::min<int64_t>(kGroup, count - i);
    Codes group{};
    std::memcpy(&group, in + i / kGroup * b, PackedBytes(rest, b));
    group = UnpackGroup<b>(group);
    std::memcpy(codes + i, &group, sizeof(uint16_t) * rest);
  }
}

void Pack8(const uint16_t* codes, int64_t count, std::byte* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(codes[i]);
}

void Unpack8(const std::byte* in, int64_t count, uint16_t* codes) {
  for (int64_t i = 0; i < count; ++i) codes[i] = std::to_integer<uint16_t>(in[i]);
}

// Calls f with `bits` as a constant.
template <class F>
void VisitWidth(int bits, const F& f) {
  [&]<int... kLess>(std::integer_sequence<int, kLess...>) {
    const bool found =
        ((bits == kLess + 1 && (f(std::integral_constant<int, kLess + 1>{}), true)) || ...);
    TORUS_CHECK(found, "{} bits", bits);
  }
  (std::make_integer_sequence<int, 16>{});
}

}  // namespace

size_t PackedBytes(int64_t count, int bits) {
  return (static_cast<size_t>(count) * static_cast<size_t>(bits) + 7) / 8;
}

void PackBits(const uint16_t* codes, int64_t count, int bits, std::byte* out) {
  VisitWidth(bits, [&](auto b) {
    if constexpr (b == 16)
      std::copy_n(reinterpret_cast<const std::byte*>(codes), PackedBytes(count, b), out);
    else if constexpr (b == 8)
      Pack8(codes, count, out);
    else
      Pack<b>(codes, count, out);
  });
}

void UnpackBits(const std::byte* in, int64_t count, int bits, uint16_t* codes) {
  VisitWidth(bits, [&](auto b) {
    if constexpr (b == 16)
      std::copy_n(in, PackedBytes(count, b), reinterpret_cast<std::byte*>(codes));
    else if constexpr (b == 8)
      Unpack8(in, count, codes);
    else
      Unpack<b>(in, count, codes);
  });
}

}  // namespace torus::parallel
