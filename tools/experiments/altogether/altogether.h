// Sort quantization against uniform quantization at equal bits, and against K-means and pruning at
// equal bytes.
#pragma once

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

Experiment Altogether();

}  // namespace torus::experiments
