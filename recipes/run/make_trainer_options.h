// What a run asks of its trainer.
#pragma once

#include "parallel/trainer/trainer_options.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/run/run.h"
#include "recipes/run/run_plans.h"
#include "recipes/run/task.h"

namespace torus::recipes {

// The trainer's options of such a run, whose model is cut by `cuts`; `nccl`: whether NCCL moves the
// GPUs' memory. Ranks on GPUs use `plans`, which must outlive the trainer.
parallel::TrainerOptions MakeTrainerOptions(const RunOptions& run, const CutChoice& cuts, bool nccl,
                                            const Task& task, RunPlans& plans);

// The task's parts, with the learning rate of `run` where it has one.
parallel::TrainingParts MakeTrainingParts(const Task& task, const RunOptions& run);

}  // namespace torus::recipes
