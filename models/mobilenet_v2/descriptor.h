// MobileNetV2, as the registry lists it.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// mobilenet_v2, which takes its width. Configurations are the arguments of torchvision's
// MobileNetV2: num_classes, width_mult, round_nearest, inverted_residual_setting and dropout.
std::vector<ModelDescriptor> MobileNetV2Descriptors();

}  // namespace torus
