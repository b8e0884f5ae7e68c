// Descriptions of actions, and of the messages that they send or receive, for errors.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// "rank 1, stage 1, step 17, micro-batch 2, forward (1F2)"
std::string PlaceOf(const Action& action, int rank, int64_t step);

// ", micro-batch 2, step 17"
std::string InStep(const Action& action, int64_t step);

// Of a send or receive: "activation from stage 0 to stage 1, micro-batch 2, step 17"
std::string MessageOf(const Action& action, int64_t step);

}  // namespace torus::parallel
