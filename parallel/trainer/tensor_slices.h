// Converts between whole states, as stored, and the slices of tensor-parallel ranks. Internal to
// the trainer.
#pragma once

#include <string>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/trainer/train_state.h"

namespace torus::parallel {

// Returns a source of the rank's slices of a whole state: it slices each split parameter, and those
// tensors of the parameter's state that have its shape. Returns `whole` itself if nothing is split.
// What whole.read reads from must outlive the result. Throws BadInput for a tensor that already has
// the slice's shape: it is not whole.
TensorSource SlicesOf(const TensorSource& whole, const RankModel& model);

// All tensor-parallel ranks of a stage call it together. On rank 0 it joins the slices of all of
// them to whole tensors; the others send theirs and keep them. Parameters and averages go by the
// parameters' names; names of optimizer state contain the parameter's (ParameterOf).
void JoinSlices(Communicator& tensor, const RankModel& model, StageTensors& stage,
                const std::string& what);

}  // namespace torus::parallel
