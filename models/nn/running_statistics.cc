#include "models/nn/running_statistics.h"

#include "runtime/error.h"

namespace torus::nn {
namespace {

struct Moments {
  std::vector<double> mean, variance;
  double count = 0;
};

Moments ToMoments(const BatchStatistics& s) {
  return {ToVector<double>(s.mean.To(DType::kF64)), ToVector<double>(s.variance.To(DType::kF64)),
          static_cast<double>(s.count)};
}

void MergeInto(Moments& a, const Moments& b) {
  const double n = a.count + b.count;
  for (size_t c = 0; c < a.mean.size(); ++c) {
    const double delta = b.mean[c] - a.mean[c];
    const double squares = a.variance[c] * a.count + b.variance[c] * b.count;
    a.mean[c] += delta * (b.count / n);
    a.variance[c] = (squares + delta * delta * (a.count * b.count / n)) / n;
  }
  a.count = n;
}

}  // namespace

BatchStatistics Merge(const std::vector<BatchStatistics>& parts) {
  TORUS_CHECK(!parts.empty());
  Moments all = ToMoments(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) MergeInto(all, ToMoments(parts[i]));
  const Shape shape = parts[0].mean.shape();
  const DType dtype = parts[0].mean.dtype();
  return {FromVector(all.mean, shape).To(dtype), FromVector(all.variance, shape).To(dtype),
          static_cast<int64_t>(all.count)};
}

void StatisticsOfMiniBatch::Keep(int micro_batch, BatchStatistics statistics) {
  kept_[micro_batch] = std::move(statistics);
}

std::optional<BatchStatistics> StatisticsOfMiniBatch::Take() {
  if (kept_.empty()) return std::nullopt;
  std::vector<BatchStatistics> parts;
  for (auto& [micro_batch, statistics] : kept_) parts.push_back(std::move(statistics));
  kept_.clear();
  return Merge(parts);
}

}  // namespace torus::nn
