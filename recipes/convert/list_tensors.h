// Lists the tensors of a file of weights.
#pragma once

#include <string>
#include <vector>

#include "runtime/io/safetensors.h"
#include "runtime/tensor.h"

namespace torus::recipes {

// One line for each tensor (name, dtype, shape, elements, smallest, largest and mean value; how
// many values are not finite) and one with totals. Types that tensors have not come from `narrow`.
std::string ListTensors(const std::vector<NamedTensor>& tensors, const NarrowTypes& narrow = {});

}  // namespace torus::recipes
