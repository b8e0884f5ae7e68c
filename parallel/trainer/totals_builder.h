// Builds TrainTotals from what the ranks have counted. Internal to the trainer.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"
#include "parallel/trainer/rank_counts.h"
#include "parallel/trainer/train_totals.h"

namespace torus::parallel {

// Adds what the rank at `place` has counted to `totals`.
void AddSegment(const RankPlace& place, const RankCounts& segment, TrainTotals& totals);

// The bubble of ranks that ran `schedule` and took these times.
Bubble MeasureBubble(const Schedule& schedule, const std::vector<RankTime>& ranks);

}  // namespace torus::parallel
