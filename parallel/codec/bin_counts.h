// BinCounts: a histogram of values by the upper 16 bits of their float32, 65536 bins. The first
// step of OrderStatistics.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/storage.h"

namespace torus::parallel {

// The values are divided into parts; one thread counts each part.
class BinCounts {
 public:
  static constexpr int kBins = 1 << 16;
  static constexpr int kZeroBin = kBins / 2;

  // Returns the upper 16 bits of the values in a bin. Bins are numbered in ascending order of their
  // values. Both zeros, and denormals of either sign below 2^-133, share kZeroBin: the upper bits
  // of its values are 0x0000, returned here, or 0x8000.
  static int UpperHalfOf(int bin) { return bin < kZeroBin ? kBins - 1 - bin : bin - kZeroBin; }

  explicit BinCounts(std::span<const float> values);

  int parts() const { return static_cast<int>(parts_); }
  int64_t PartBegin(int part) const { return values_ * part / parts_; }

  int64_t count(int bin) const { return sum_[bin]; }
  int64_t CountInPart(int part, int bin) const;
  // Sum over bins [begin, end).
  int64_t CountBetween(int begin, int end) const;
  // The number of values that are infinite or NaN.
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
