// A rank's codecs, made as the options say.
#pragma once

#include <string>

#include "parallel/pipeline/executor_options.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::parallel {

// Makes all of them, activations' first, for a rank of `replica`.
void TakeCodecs(const TrainerOptions& from, int replica, ExecutorOptions& to);

// Which codec is where, the same on ranks that understand each other: "none", "sortq:8",
// "sortq:8, gradients uniform:8, at cut 2 none, from step 100".
std::string CodecsText(const TrainerOptions& from, const ExecutorOptions& options);

}  // namespace torus::parallel
