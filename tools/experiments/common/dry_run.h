// What --dry-run shows.
#pragma once

#include <vector>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

// A table of what would run: cuts, memory and simulated time of each training (ForecastOf), on
// V100s for the scale `paper`, otherwise on this machine's cores. Trains nothing and allocates no
// weights. For an experiment that trains nothing, its own page follows. Trainings whose shapes
// depend on data that are not available are left out.
study::Page DryRun(const Experiment& experiment, const Options& options,
                   const std::vector<Training>& trainings);

}  // namespace torus::experiments
