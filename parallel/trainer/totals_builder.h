// Builds TrainTotals from what the ranks have counted. Trainer's own part.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"
#include "parallel/trainer/rank_worker.h"
#include "parallel/trainer/train_totals.h"

namespace torus::parallel {

// Adds the counts between two moments to `totals`, one entry a rank in each.
void AddSegment(const WorldLayout& layout, const std::vector<RankCounts>& before,
                const std::vector<RankCounts>& after, TrainTotals& totals);

// From the ranks' times in `totals`.
Bubble MeasureBubble(const Schedule& schedule, const std::vector<RankTime>& ranks);

}  // namespace torus::parallel
