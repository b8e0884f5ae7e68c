// Builds TrainTotals from what the ranks have counted. Trainer's own part.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"
#include "parallel/trainer/rank_worker.h"
#include "parallel/trainer/train_totals.h"

namespace torus::parallel {

// Adds `after` - `before` to `totals`; both have one entry for each rank.
void AddSegment(const WorldLayout& layout, const std::vector<RankCounts>& before,
                const std::vector<RankCounts>& after, TrainTotals& totals);

// The bubble of ranks that ran `schedule` and took these times.
Bubble MeasureBubble(const Schedule& schedule, const std::vector<RankTime>& ranks);

}  // namespace torus::parallel
