// The schedule that the ranks of a run execute. Internal to the trainer.
#pragma once

#include "parallel/schedule/schedule.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::parallel {

// Returns the options' schedule (ScheduleOf). If the strategy gathers weights and there are several
// replicas, each block becomes a stage of its own with a gather before and a free after its
// forwards and backwards; `options` then gets the stages and cuts of the blocks. They run on the
// same ranks in the same order, so that the bits do not change.
Schedule RunScheduleOf(TrainerOptions& options, const TrainingParts& parts);

}  // namespace torus::parallel
