// VGG's configurations, as the registry lists them.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// vgg11, vgg13, vgg16 and vgg19, then each with "_bn" behind its name. Configurations are the
// arguments of torchvision's vgg11 ...: num_classes and dropout.
std::vector<ModelDescriptor> VggDescriptors();

}  // namespace torus
