// RankCounts: where a rank's time and bytes went. Internal to the trainer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel/pipeline/executor.h"

namespace torus::parallel {

struct RankCounts {
  RankTotals times;
  double data_wait = 0;
  double wall = 0;                      // inside training steps
  std::vector<CutTraffic> cuts;         // peers are world ranks
  std::vector<uint64_t> reduced_bytes;  // sent to each world rank in all-reduces
  std::vector<uint64_t> uncoded_bytes;  // the same without a codec
  // What an engine's sums send to each world rank, computed (Transport::BytesComputed).
  std::vector<uint64_t> computed_bytes;
  int64_t threads = 1;  // of the rank
  // What the rank keeps between steps, at present.
  uint64_t weights_bytes = 0, optimizer_bytes = 0;
  uint64_t peak_bytes = 0;  // of these and gradients together, so far
  // Squares of the rank's weights' distance from replica 0's, and of replica 0's weights; 0 for
  // strategies that keep the replicas equal.
  double drift_distance = 0, drift_weights = 0;

  // The difference to `before`, an earlier count of the same rank.
  RankCounts Since(const RankCounts& before) const;
};

// Converts to a control message and back.
std::vector<std::byte> ToBytes(const RankCounts& counts);
RankCounts CountsFrom(std::span<const std::byte> bytes);

}  // namespace torus::parallel
