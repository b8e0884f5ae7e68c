// Makes a rank's codecs from the options.
#pragma once

#include <string>

#include "parallel/pipeline/executor_options.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::parallel {

// The name of a rank's pipeline in the names of codec state: "replica 1", or "tensor 0 of 2 in
// replica 1" if each tensor-parallel rank has its own codecs.
std::string PipelineName(const RankPlace& place);

// Makes all codecs of the rank at `place`, those for activations first.
void TakeCodecs(const TrainerOptions& from, const RankPlace& place, ExecutorOptions& to);

// Describes which codec is where; must be equal on all ranks: "none", "sortq:8", "sortq:8,
// gradients uniform:8, at cut 2 none, from step 100".
std::string CodecsText(const TrainerOptions& from, const ExecutorOptions& options);

}  // namespace torus::parallel
