#include "parallel/codec/bucket_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel/codec/bucket_step.h"
#include "parallel/codec/order_statistics.h"

namespace torus::parallel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

BucketPlan::BucketPlan(std::span<const float> values, SortqFormat format) {
  scale_.buckets = format.buckets();
  scale_.step_bits = format.step_bits();
  const int64_t count = static_cast<int64_t>(values.size());
  if (count == 0) return;
  std::vector<int64_t> ranks;  // of the minimum and maximum of each bucket
  for (int k = 0; k < scale_.buckets; ++k) {
    ranks.push_back(format.FirstRank(count, k));
    ranks.push_back(format.LastRank(count, k));
  }
  std::vector<uint32_t> index(ranks.size());
  finite_ = OrderStatistics(values, ranks, index);
  if (!finite_) return;
  for (int k = 0; k < scale_.buckets; ++k) {
    cut_index_[k] = index[2 * k];
    cut_value_[k] = values[index[2 * k]];
    if (!format.IsEmpty(count, k)) SetScale(k, cut_value_[k], values[index[2 * k + 1]]);
  }
}

void BucketPlan::SetScale(int bucket, float minimum, float maximum) {
  const float step = BucketStep(minimum, maximum, scale_.step_bits);
  scale_.minimum[bucket] = minimum;
  scale_.step[bucket] = step;
  wide_ = wide_ || !FitsFloat(minimum, maximum, step);
}

void BucketPlan::Quantize(std::span<const float> values, int64_t begin, int64_t end,
                          uint16_t* codes) const {
  const auto quantize = wide_ ? parallel::QuantizeWide : parallel::Quantize;
  for (int64_t from = begin; from < end;) {
    const int64_t to = std::min(end, NextCut(from));
    quantize(values.data() + from, to - from, scale_, ThresholdsAt(from), codes + (from - begin));
    from = to;
  }
}

// Before a cut's index, values equal to the cut belong below it, so the threshold is the next
// float.
Thresholds BucketPlan::ThresholdsAt(int64_t index) const {
  Thresholds threshold{};
  for (int k = 1; k < scale_.buckets; ++k)
    threshold[k] = index < cut_index_[k] ? std::nextafter(cut_value_[k], kInfinity) : cut_value_[k];
  return threshold;
}

int64_t BucketPlan::NextCut(int64_t index) const {
  int64_t next = std::numeric_limits<int64_t>::max();
  for (int k = 1; k < scale_.buckets; ++k)
    if (cut_index_[k] > index) next = std::min(next, cut_index_[k]);
  return next;
}

}  // namespace torus::parallel
