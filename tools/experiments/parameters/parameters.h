// The parameter count of each model, compared with the published counts.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kParametersPublished;  // published.tsv

Experiment Parameters();

}  // namespace torus::experiments
