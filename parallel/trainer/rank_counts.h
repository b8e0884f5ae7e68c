// RankCounts: where a rank's time and bytes went. Trainer's own part.
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
  std::vector<uint64_t> uncoded_bytes;  // the same, had no codec been there
  // Of the rank's part of the state, as it is now: what it keeps between steps.
  uint64_t weights_bytes = 0, optimizer_bytes = 0;
  uint64_t peak_bytes = 0;  // of that and gradients together, so far
  // Squares of the distance of the rank's weights from replica 0's, and of the latter (none).
  double drift_distance = 0, drift_weights = 0;

  // What was counted since `before`, an earlier count of the same rank.
  RankCounts Since(const RankCounts& before) const;
};

// As a control message, and back.
std::vector<std::byte> ToBytes(const RankCounts& counts);
RankCounts CountsFrom(std::span<const std::byte> bytes);

}  // namespace torus::parallel
