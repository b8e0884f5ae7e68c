// ResNets of ImageNet and of CIFAR-10, as the registry lists them.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// resnet18, resnet34, resnet50 and resnet101, whose configurations are the arguments of
// torchvision's functions (num_classes; zero_init_residual may be there, since it is of initial
// values alone), then cifar_resnet20 and cifar_resnet56 (num_classes).
std::vector<ModelDescriptor> ResNetDescriptors();

}  // namespace torus
