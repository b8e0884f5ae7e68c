// States are stored whole, however many tensor-parallel ranks there are; each of these has slices.
// Trainer's own part.
#pragma once

#include <string>

#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/trainer/train_state.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// What the rank reads of a whole state: of each split parameter, and of what belongs to it and has
// its shape, the slice. `whole` itself where nothing is split. What whole.read reads from must
// outlive it. BadInput for a tensor that has the slice's shape already: it is not whole.
TensorSource SlicesOf(const TensorSource& whole, const RankModel& model);

// Called by all tensor-parallel ranks of a stage together: on rank 0, puts the slices of all of
// them together again; the others send theirs, and keep them. Parameters and averages have the
// parameters' names, the optimizer's state has them within its own (ParameterOf).
void JoinSlices(Transport& tensor, const RankModel& model, StageTensors& stage,
                const std::string& what);

}  // namespace torus::parallel
