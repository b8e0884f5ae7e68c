// The ResNet of CIFAR-10 (He et al. 2016, section 4.2): 6 n + 2 layers of 16, 32 and 64 channels,
// shortcuts without parameters (option A). Names are those of
// github.com/akamaster/pytorch_resnet_cifar10, whose weights load.
#pragma once

#include <cstdint>
#include <memory>

#include "models/nn/sequential.h"

namespace torus {

// Defaults are those of CIFAR-10. Members without a comment are as their names say; dtype is that
// of the parameters.
struct CifarResNetOptions {
  int depth = 20;  // 6 n + 2: 20, 32, 44, 56, 110, ...
  int64_t num_classes = 10;
  DType dtype = DType::kF32;
};

// Maps images (N, H, W, 3), 32 x 32 pixels in the paper, to logits (N, num_classes). Its layers are
// the stem ("conv1"), the blocks "layer1.0" ..., "avgpool" and "linear". Throws BadInput for
// options out of range.
std::shared_ptr<nn::Sequential> CifarResNet(const CifarResNetOptions& options = {});

}  // namespace torus
