// What --dry-run shows.
#pragma once

#include <vector>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

// A table of what would run: cut, memory and simulated time of each (ForecastOf), on V100s for the
// scale `paper`, else on this machine's cores; nothing is trained, and it takes no memory for
// weights. The experiment's own page behind it where it trains nothing. A training whose form only
// its data tell is left out where these are not at hand.
study::Page DryRun(const Experiment& experiment, const Options& options,
                   const std::vector<Training>& trainings);

}  // namespace torus::experiments
