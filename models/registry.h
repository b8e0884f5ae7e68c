// The built-in models.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// In the order of the help text. Functions that look up a model take such a list, so that an
// application can add its own models.
const std::vector<ModelDescriptor>& Models();

}  // namespace torus
