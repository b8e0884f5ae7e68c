// Compares sort quantization with uniform quantization at equal bits, and with K-means and pruning
// at equal bytes.
#pragma once

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

Experiment Altogether();

}  // namespace torus::experiments
