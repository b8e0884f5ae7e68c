// How much accuracy sort quantization at the cuts costs, by bits and data.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kSortQuantizationPublished;  // published.tsv

Experiment SortQuantization();

}  // namespace torus::experiments
