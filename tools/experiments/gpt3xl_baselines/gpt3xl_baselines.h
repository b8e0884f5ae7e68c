// GPT-3 XL with PyTorch Pipe and with Megatron's tensor, pipeline and data parallelism: simulated
// at full size with two fitted parameters, trained at a small size.
#pragma once

#include <string_view>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kGpt3xlBaselinesPublished;  // published.tsv

Experiment Gpt3xlBaselines();

}  // namespace torus::experiments
