// LossFn: what a run minimises.
#pragma once

#include <functional>
#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

// Mean loss of one micro-batch, a variable of one element.
using LossFn = std::function<Variable(const std::vector<Variable>& outputs,
                                      const std::vector<Tensor>& targets)>;

}  // namespace torus::parallel
