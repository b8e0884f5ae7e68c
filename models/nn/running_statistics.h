// Running mean and variance of batch normalization when a mini-batch comes in several
// micro-batches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/share_statistics.h"
#include "runtime/tensor.h"

namespace torus::nn {

// Mean and variance of each channel over `count` values.
struct BatchStatistics {
  Tensor mean;      // (C), f32 or f64
  Tensor variance;  // (C), biased: divided by count
  int64_t count = 0;
};

// Statistics of all sets together, in f64 (ops::MergeStatistics). `parts` is not empty; one part
// comes back as it is.
BatchStatistics Merge(const std::vector<BatchStatistics>& parts);

// The statistics of each micro-batch until the mini-batch ends. They are stored by the
// micro-batch's number, so a forward that is computed twice (activation checkpointing) counts once.
class StatisticsOfMiniBatch {
 public:
  void Keep(int micro_batch, BatchStatistics statistics);
  // Those of all replicas' micro-batches in place of these.
  void Share(const ShareStatistics& share);
  // All of them merged in ascending order of micro-batch, whatever order they came in; nothing if
  // there were none. Forgets them.
  std::optional<BatchStatistics> Take();

 private:
  std::map<int, BatchStatistics> kept_;
};

}  // namespace torus::nn
