// Where sort quantization cuts: the scale of each bucket, and what puts each value into its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "parallel/codec/quantize_kernel.h"
#include "parallel/codec/sortq_format.h"

namespace torus::parallel {

class BucketPlan {
 public:
  BucketPlan(std::span<const float> values, SortqFormat format);

  // Whether all values are; otherwise there is no plan, and nothing below may be called.
  bool finite() const { return finite_; }
  const BucketScale& scale() const { return scale_; }

  // codes[i] for values[begin + i]; `values` as at construction.
  void Quantize(std::span<const float> values, int64_t begin, int64_t end, uint16_t* codes) const;

 private:
  void SetScale(int bucket, float minimum, float maximum);
  Thresholds ThresholdsAt(int64_t index) const;  // good up to NextCut(index)
  int64_t NextCut(int64_t index) const;

  BucketScale scale_;
  bool finite_ = true;
  bool wide_ = false;  // some bucket needs QuantizeWide
  // The element of least rank in bucket k >= 1. Equal values before its index belong below the cut.
  std::array<float, kMaxBuckets> cut_value_{};
  std::array<int64_t, kMaxBuckets> cut_index_{};
};

}  // namespace torus::parallel
