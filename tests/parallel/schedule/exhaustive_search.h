// What a lowered schedule does, found by trying every order in which its ranks may get on: the
// verifier is held to it. Written from the meaning of the actions, not from the verifier.
#pragma once

#include <string>

#include "parallel/schedule/schedule.h"

namespace torus::parallel::testing {

// Empty where every interleaving ends, with each micro-batch done once in every stage, sums in
// ascending order and nothing left on a link; else what is wrong.
std::string FindFault(const Schedule& schedule);

}  // namespace torus::parallel::testing
