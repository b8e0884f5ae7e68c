// The models of this tree.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// In the order of a help text. Functions that look a model up take such a list, so that an
// application can give them its own models too.
const std::vector<ModelDescriptor>& Models();

}  // namespace torus
