// What stands in a file of weights.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::recipes {

// A line for each tensor (name, dtype, shape, elements, smallest, largest and mean value) and one
// of sums. Values that are not finite are counted.
std::string ListTensors(const std::vector<NamedTensor>& tensors);

}  // namespace torus::recipes
