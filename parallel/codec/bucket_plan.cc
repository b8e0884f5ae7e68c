#include "parallel/codec/bucket_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel/codec/order_statistics.h"

namespace torus::parallel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Whether float32 can form differences within the bucket and divide them by its step.
bool FitsFloat(float minimum, float maximum, float step) {
  return step == 0 || (maximum - minimum < kInfinity && step >= std::numeric_limits<float>::min());
}

}  // namespace

float BucketStep(float minimum, float maximum, int step_bits) {
  const double exact = (double{maximum} - double{minimum}) / ((1 << step_bits) - 1);
  const float near = static_cast<float>(exact);
  if (near < std::numeric_limits<float>::min())
    return double{near} < exact ? std::nextafter(near, kInfinity) : near;
  return double{near} > exact ? std::nextafter(near, 0.0f) : near;
}

BucketPlan::BucketPlan(std::span<const float> values, int buckets, int step_bits) {
  scale_.buckets = buckets;
  scale_.step_bits = step_bits;
  const int64_t count = static_cast<int64_t>(values.size());
  if (count == 0) return;
  std::vector<int64_t>
      ranks;  // least and greatest of each bucket; an empty one borrows its neighbour's least
  for (int k = 0; k < buckets; ++k) {
    const int64_t first = count * k / buckets, next = count * (k + 1) / buckets;
    ranks.push_back(first);
    ranks.push_back(std::max(first, next - 1));
  }
  std::vector<uint32_t> index(ranks.size());
  finite_ = OrderStatistics(values, ranks, index);
  if (!finite_) return;
  for (int k = 0; k < buckets; ++k) {
    cut_index_[k] = index[2 * k];
    cut_value_[k] = values[index[2 * k]];
    if (count * k / buckets == count * (k + 1) / buckets) continue;
    SetScale(k, cut_value_[k], values[index[2 * k + 1]]);
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

// Before a cut's index its own value belongs below: the least value above it is the next float.
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
