// Batch norm statistics of a mini-batch that consists of several micro-batches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/share_statistics.h"
#include "runtime/step_context.h"
#include "runtime/tensor.h"

namespace torus::nn {

// Mean and variance of each channel over `count` values.
struct BatchStatistics {
  Tensor mean;      // (C), f32 or f64
  Tensor variance;  // (C), biased: divided by count
  int64_t count = 0;
};

// Merges the statistics of several sets, in f64 (ops::MergeStatistics). `parts` must not be empty;
// a single part is returned unchanged.
BatchStatistics Merge(const std::vector<BatchStatistics>& parts);

// Keeps the statistics of each micro-batch until the mini-batch ends. The key is the micro-batch's
// number, so a forward that runs twice (activation checkpointing) counts once.
class StatisticsOfMiniBatch {
 public:
  // Of a micro-batch of the step; replaces those of that number. Throws BadInput if statistics of
  // another step are kept.
  void Keep(const StepContext& ctx, BatchStatistics statistics);
  // Throws BadInput if any are kept: what an evaluation would read does not contain them.
  void RequireNone() const;
  // Replaces them by those of all replicas' micro-batches.
  void Share(const ShareStatistics& share);
  // Merges and clears all, in ascending order of micro-batch whatever order they came in. Returns
  // nothing if there were none.
  std::optional<BatchStatistics> Take();

 private:
  std::map<int, BatchStatistics> kept_;
  int64_t step_ = 0;  // of kept_, if there are any
};

}  // namespace torus::nn
