// Runs a model case: one forward and backward.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares logits, loss, every parameter's gradient and the running statistics.
Comparison RunModel(const Case& c);

}  // namespace torus::replay
