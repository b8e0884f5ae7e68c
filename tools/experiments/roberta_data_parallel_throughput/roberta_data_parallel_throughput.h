// RoBERTa's sentences per second by replicas and batch size, compared with a pipeline.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kRobertaDataParallelThroughputPublished;  // published.tsv

Experiment RobertaDataParallelThroughput();

}  // namespace torus::experiments
