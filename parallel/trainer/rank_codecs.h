// A rank's codecs, made as the options say.
#pragma once

#include <string>

#include "parallel/pipeline/executor_options.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::parallel {

// The pipeline of a rank, in what its codecs keep: "replica 1", or "tensor 0 of 2 in replica 1"
// where each tensor-parallel rank has one.
std::string PipelineName(const RankPlace& place);

// Makes all of them, activations' first, for a rank at `place`.
void TakeCodecs(const TrainerOptions& from, const RankPlace& place, ExecutorOptions& to);

// Which codec is where, the same on ranks that understand each other: "none", "sortq:8",
// "sortq:8, gradients uniform:8, at cut 2 none, from step 100".
std::string CodecsText(const TrainerOptions& from, const ExecutorOptions& options);

}  // namespace torus::parallel
