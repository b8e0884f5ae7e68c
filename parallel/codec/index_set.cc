#include "parallel/codec/index_set.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Of a number below n.
int BitsFor(int64_t n) {
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(n, 2) - 1));
}

size_t ListBytes(int64_t n, int64_t k) { return (static_cast<size_t>(k * BitsFor(n)) + 7) / 8; }

size_t MaskBytes(int64_t n) { return (static_cast<size_t>(n) + 7) / 8; }

bool IsList(int64_t n, int64_t k) { return ListBytes(n, k) < MaskBytes(n); }

}  // namespace

template <class F>
void IndexSet::ForEach(const F& f) const {
  size_t place = 0;
  for (size_t w = 0; w < words_.size(); ++w)
    for (uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
      f(64 * w + static_cast<size_t>(std::countr_zero(bits)), place++);
}

void IndexSet::Gather(std::span<const float> in, std::span<float> kept) const {
  ForEach([&](size_t number, size_t place) { kept[place] = in[number]; });
}

void IndexSet::Scatter(std::span<const float> kept, std::span<float> out) const {
  std::ranges::fill(out, 0.0f);
  ForEach([&](size_t number, size_t place) { out[number] = kept[place]; });
}

size_t IndexSet::WireBytes(int64_t n, int64_t k) { return std::min(ListBytes(n, k), MaskBytes(n)); }

void IndexSet::Write(int64_t k, std::span<std::byte> wire) const {
  if (!IsList(n_, k)) {
    std::memcpy(wire.data(), words_.data(), wire.size());
    return;
  }
  const int bits = BitsFor(n_);
  uint64_t open = 0;  // bits that do not fill a byte yet
  int held = 0;
  size_t at = 0;
  ForEach([&](size_t number, size_t) {
    open |= static_cast<uint64_t>(number) << held;
    for (held += bits; held >= 8; held -= 8, open >>= 8) wire[at++] = static_cast<std::byte>(open);
  });
  if (held > 0) wire[at] = static_cast<std::byte>(open);
}

IndexSet IndexSet::Read(const char* name, int64_t n, int64_t k, std::span<const std::byte> wire) {
  IndexSet set(n);
  if (IsList(n, k)) {
    set.ReadList(name, k, wire);
    return set;
  }
  std::memcpy(set.words_.data(), wire.data(), wire.size());
  int64_t size = 0;
  for (const uint64_t word : set.words_) size += std::popcount(word);
  const bool below = n % 64 == 0 || set.words_.back() >> (n % 64) == 0;
  Require(size == k && below, name, "needs {} places below {}, got {}{}", k, n, size,
          below ? "" : " and some beyond");
  return set;
}

void IndexSet::ReadList(const char* name, int64_t k, std::span<const std::byte> wire) {
  const int bits = BitsFor(n_);
  uint64_t open = 0;
  int held = 0;
  size_t at = 0;
  int64_t last = -1;
  for (int64_t i = 0; i < k; ++i) {
    for (; held < bits; held += 8) open |= std::to_integer<uint64_t>(wire[at++]) << held;
    const auto number = static_cast<int64_t>(open & ((uint64_t{1} << bits) - 1));
    open >>= bits;
    held -= bits;
    Require(number > last && number < n_, name, "needs ascending places below {}, got {} behind {}",
            n_, number, last);
    words_[static_cast<size_t>(number / 64)] |= uint64_t{1} << (number % 64);
    last = number;
  }
  Require(open == 0, name, "needs zeros behind the last place, got {}", open);
}

}  // namespace torus::parallel
