// AmoebaNet-D, as the registry lists it.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// amoebanetd, which takes its layers and filters. Configurations have the arguments of
// torchgpipe's amoebanetd: num_classes, num_layers and num_filters.
std::vector<ModelDescriptor> AmoebaNetDescriptors();

}  // namespace torus
