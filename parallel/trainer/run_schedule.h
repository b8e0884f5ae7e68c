// The schedule that the ranks of a run go by. Trainer's own part.
#pragma once

#include "parallel/schedule/schedule.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::parallel {

// That of the options (ScheduleOf). Where the strategy gathers weights, and there are several
// replicas, each block becomes a stage of its own with a gather and a free around its forwards and
// backwards, and the stages and cuts of `options` become those of the blocks: on the same ranks, in
// the same order, so that the bits stay.
Schedule RunScheduleOf(TrainerOptions& options, const TrainingParts& parts);

}  // namespace torus::parallel
