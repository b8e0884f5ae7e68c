// Saves a checkpoint to which every rank writes what it owns. Internal to the trainer.
#pragma once

#include <exception>
#include <map>
#include <string>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/loss_scale.h"
#include "parallel/trainer/state_copy.h"

namespace torus::parallel {

// All ranks call it together, each with the stages, by number, that it has to write (maybe none).
// Rank 0 creates the folder, all ranks write their files into it, then rank 0, which receives only
// the files' names and sizes, adds `texts` and commits. Returns null if the folder was committed.
// Otherwise the folder is as it was before, and all ranks return the error of the first rank that
// failed (DoTogether).
[[nodiscard]] std::exception_ptr SaveTogether(Communicator& world, const std::string& folder,
                                              int64_t step, const LossScaleState& scale,
                                              const std::map<int, StageTensors>& own,
                                              const std::map<std::string, std::string>& texts);

}  // namespace torus::parallel
