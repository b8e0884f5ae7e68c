// Lists the tensors of a file of weights.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::recipes {

// One line for each tensor (name, dtype, shape, elements, smallest, largest and mean value; how
// many values are not finite) and one with totals.
std::string ListTensors(const std::vector<NamedTensor>& tensors);

}  // namespace torus::recipes
