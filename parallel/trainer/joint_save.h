// A checkpoint to which every rank writes what it owns. Trainer's own part.
#pragma once

#include <exception>
#include <map>
#include <string>

#include "parallel/trainer/control.h"
#include "parallel/trainer/loss_scale.h"
#include "parallel/trainer/state_copy.h"

namespace torus::parallel {

// Called by all ranks together, each with the stages, by number, that it is to write (maybe none):
// rank 0 begins the folder, all write their files into it, then rank 0, which is told their names
// and sizes alone, adds `texts` and commits. Null when the folder is committed; otherwise it is as
// it was, and all ranks have the error of the first that failed (DoTogether).
[[nodiscard]] std::exception_ptr SaveTogether(Control& control, const std::string& folder,
                                              int64_t step, const LossScaleState& scale,
                                              const std::map<int, StageTensors>& own,
                                              const std::map<std::string, std::string>& texts);

}  // namespace torus::parallel
