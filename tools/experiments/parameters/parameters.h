// How many parameters each model has, beside the published counts.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kParametersPublished;  // published.tsv

Experiment Parameters();

}  // namespace torus::experiments
