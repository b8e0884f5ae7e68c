// The first step of OrderStatistics: how many values lie in each of 65536 bins, the upper 16 bits
// of a float32.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/storage.h"

namespace torus::parallel {

// The values are counted in parts; each part is a range of them that one thread counts.
class BinCounts {
 public:
  static constexpr int kBins = 1 << 16;
  static constexpr int kZeroBin = kBins / 2;

  // Bins are numbered in ascending order of their values. Returns the upper 16 bits of the values
  // in a bin. Both zeros, and the denormals of either sign below 2^-133, share kZeroBin, whose
  // values have the upper bits 0x0000, returned here, or 0x8000.
  static int UpperHalfOf(int bin) { return bin < kZeroBin ? kBins - 1 - bin : bin - kZeroBin; }

  explicit BinCounts(std::span<const float> values);

  int parts() const { return static_cast<int>(parts_); }
  int64_t PartBegin(int part) const { return values_ * part / parts_; }

  int64_t count(int bin) const { return sum_[bin]; }
  int64_t CountInPart(int part, int bin) const;
  // Sum over bins [begin, end).
  int64_t CountBetween(int begin, int end) const;
  // Values that are infinite or NaN.
  int64_t NonFinite() const;

 private:
  uint32_t* Table(int64_t part, int table) const;
  void CountPart(int64_t part, std::span<const float> values);
  void Sum();

  int64_t values_, parts_;
  Storage storage_;
  uint32_t* tables_;  // [parts][even, odd][kBins], by upper half
  uint32_t* sum_;     // [kBins], in the order of values
};

}  // namespace torus::parallel
