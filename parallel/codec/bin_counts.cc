#include "parallel/codec/bin_counts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

// Neighbouring values often share a bin, and incrementing one counter twice in a row stalls on
// memory. So values of even and odd index have separate tables.
constexpr int kTables = 2;
constexpr int64_t kPartValues = 1 << 15;  // fewer are not worth waking a thread

void CountUpperHalves(std::span<const float> values, uint32_t* even, uint32_t* odd) {
  const size_t pairs = values.size() / 2;
  for (size_t i = 0; i < pairs; ++i) {
    uint64_t two;
    std::memcpy(&two, values.data() + 2 * i, sizeof(two));
    ++even[(two >> 16) & 0xffff];
    ++odd[two >> 48];
  }
  if (values.size() % 2 != 0) ++even[std::bit_cast<uint32_t>(values.back()) >> 16];
}

}  // namespace

BinCounts::BinCounts(std::span<const float> values)
    : values_(static_cast<int64_t>(values.size())),
      parts_(std::clamp<int64_t>(values_ / kPartValues, 1, TeamSize())),
      storage_(sizeof(uint32_t) * kBins * (parts_ * kTables + 1), Device{}),
      tables_(static_cast<uint32_t*>(storage_.data())),
      sum_(Table(parts_, 0)) {
  ParallelFor(parts_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) CountPart(part, values);
  });
  Sum();
}

uint32_t* BinCounts::Table(int64_t part, int table) const {
  return tables_ + (part * kTables + table) * kBins;
}

void BinCounts::CountPart(int64_t part, std::span<const float> values) {
  std::memset(Table(part, 0), 0, sizeof(uint32_t) * kBins * kTables);
  const int64_t begin = PartBegin(part), end = PartBegin(part + 1);
  CountUpperHalves(values.subspan(begin, end - begin), Table(part, 0), Table(part, 1));
}

void BinCounts::Sum() {
  for (int64_t part = 0; part < parts_; ++part) {
    const uint32_t *even = Table(part, 0), *odd = Table(part, 1);
    const auto add = [&](int bin, int upper) {
      sum_[bin] = (part == 0 ? 0 : sum_[bin]) + even[upper] + odd[upper];
    };
    for (int i = 0; i < kZeroBin; ++i) add(i, kBins - 1 - i);
    for (int i = 0; i < kZeroBin; ++i) add(kZeroBin + i, i);
  }
  sum_[kZeroBin] += sum_[kZeroBin - 1];
  sum_[kZeroBin - 1] = 0;
}

int64_t BinCounts::CountInPart(int part, int bin) const {
  int64_t count = 0;
  for (int t = 0; t < kTables; ++t) {
    count += Table(part, t)[UpperHalfOf(bin)];
    if (bin == kZeroBin) count += Table(part, t)[0x8000];
  }
  return count;
}

int64_t BinCounts::CountBetween(int begin, int end) const {
  return std::accumulate(sum_ + begin, sum_ + end, int64_t{0});
}

int64_t BinCounts::NonFinite() const {
  constexpr int kInfinite = 128;  // bins of exponent 255, at each end
  return CountBetween(0, kInfinite) + CountBetween(kBins - kInfinite, kBins);
}

}  // namespace torus::parallel
