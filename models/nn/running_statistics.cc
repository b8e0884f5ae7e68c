#include "models/nn/running_statistics.h"

#include "ops/batch_norm/batch_norm.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

Tensor CopyInF64(const Tensor& t) {
  return t.dtype() == DType::kF64 ? t.Clone() : t.To(DType::kF64);
}

}  // namespace

BatchStatistics Merge(const std::vector<BatchStatistics>& parts) {
  TORUS_CHECK(!parts.empty());
  if (parts.size() == 1) return parts[0];
  const DType dtype = parts[0].mean.dtype();
  Tensor mean = CopyInF64(parts[0].mean), variance = CopyInF64(parts[0].variance);
  int64_t count = parts[0].count;
  for (size_t i = 1; i < parts.size(); ++i) {
    const BatchStatistics& more = parts[i];
    ops::MergeStatistics(more.mean.To(DType::kF64), more.variance.To(DType::kF64), more.count, mean,
                         variance, count);
    count += more.count;
  }
  return {mean.To(dtype), variance.To(dtype), count};
}

void StatisticsOfMiniBatch::Keep(const StepContext& ctx, BatchStatistics statistics) {
  if (ctx.step != step_) RequireNone();
  step_ = ctx.step;
  kept_[ctx.micro_batch] = std::move(statistics);
}

void StatisticsOfMiniBatch::RequireNone() const {
  Require(kept_.empty(), "batch_norm",
          "the statistics of step {} are pending: call EndMiniBatch after each mini-batch", step_);
}

void StatisticsOfMiniBatch::Share(const ShareStatistics& share) {
  KeptStatistics own;
  for (const auto& [micro_batch, statistics] : kept_)
    own[micro_batch] = {statistics.mean, statistics.variance,
                        Full({}, static_cast<double>(statistics.count), DType::kI64)};
  kept_.clear();
  for (auto& [micro_batch, of] : share(std::move(own)))
    kept_[micro_batch] = {of.at(0), of.at(1), static_cast<int64_t>(of.at(2).Item())};
}

std::optional<BatchStatistics> StatisticsOfMiniBatch::Take() {
  if (kept_.empty()) return std::nullopt;
  std::vector<BatchStatistics> parts;
  for (auto& [micro_batch, statistics] : kept_) parts.push_back(std::move(statistics));
  kept_.clear();
  return Merge(parts);
}

}  // namespace torus::nn
