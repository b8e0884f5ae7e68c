// What must be equal on all ranks of a run, compared before step 0. Internal to the trainer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::parallel {

// Name and value: {"schedule", "gpipe"}.
using RunFacts = std::vector<std::pair<std::string, std::string>>;

// The version of the trainer's messages, compiler, vector unit, threads, settings, schedule, codec,
// TrainerOptions::facts, and every parameter and buffer of the model. `codec`: its name.
RunFacts FactsOf(const TrainerOptions& options, const TrainingParts& parts,
                 const Schedule& schedule, const RankModel& model, const std::string& codec);

// All ranks call it together. They compare digests; if these differ, all throw the same BadInput,
// which names the first fact that differs and the ranks: "[trainer] rank 2 has schedule 1f1b, rank
// 0 has gpipe".
void RequireEqualFacts(Communicator& world, const RunFacts& facts);

}  // namespace torus::parallel
