// GPipe with both ends of the model on the first rank (Vepakomma et al. 2018, "Split Learning for
// Health", the configuration without label sharing): K ranks run K + 1 stages, and rank 0 runs
// stage 0 and stage K. The data, the labels and the loss stay on rank 0. Two ranks:
//
//   rank 0 | 0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1
//   rank 1 | ..  1F0 1F1 ..  ..  1B0 1B1 ..
//
// As in GPipe all backwards come after all forwards.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and backwards only; Lower adds the rest. Throws what CheckSize throws.
Schedule UShaped(const PipelineSize& size);

}  // namespace torus::parallel
