// Sentences a second of RoBERTa by replicas and batch, beside a pipeline.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kRobertaDataParallelThroughputPublished;  // published.tsv

Experiment RobertaDataParallelThroughput();

}  // namespace torus::experiments
