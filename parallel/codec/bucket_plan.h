// BucketPlan: the buckets that sort quantization chooses for some values. It gives each bucket's
// scale, and quantizes the values.
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

  // Whether all values are finite. If not, there is no plan, and nothing below may be called.
  bool finite() const { return finite_; }
  const BucketScale& scale() const { return scale_; }

  // Sets codes[i] to the code of values[begin + i]. `values` are those given to the constructor.
  void Quantize(std::span<const float> values, int64_t begin, int64_t end, uint16_t* codes) const;

 private:
  void SetScale(int bucket, float minimum, float maximum);
  Thresholds ThresholdsAt(int64_t index) const;  // valid up to NextCut(index)
  int64_t NextCut(int64_t index) const;

  BucketScale scale_;
  bool finite_ = true;
  bool wide_ = false;  // a bucket needs QuantizeWide
  // The element of lowest rank in bucket k >= 1: its value and its index. Equal values with a lower
  // index belong to the bucket below.
  std::array<float, kMaxBuckets> cut_value_{};
  std::array<int64_t, kMaxBuckets> cut_index_{};
};

}  // namespace torus::parallel
