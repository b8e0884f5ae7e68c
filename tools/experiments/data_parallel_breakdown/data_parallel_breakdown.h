// Where a data-parallel step spends its time, by model, optimizer and replicas; and whether AdamW
// is what makes RoBERTa slow.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kDataParallelBreakdownPublished;  // published.tsv

Experiment DataParallelBreakdown();

}  // namespace torus::experiments
