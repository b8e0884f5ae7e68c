// Compares a pipeline with data parallelism: accuracy and speed.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kPipelineVsDataParallelPublished;  // published.tsv

Experiment PipelineVsDataParallel();

}  // namespace torus::experiments
