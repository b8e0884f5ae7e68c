// ResNet (He et al. 2016, "Deep residual learning for image recognition") as torchvision has it:
// table 1 of the paper, with the stride of a bottleneck in its 3 x 3 convolution.
#pragma once

#include <cstdint>
#include <memory>

#include "models/nn/sequential.h"

namespace torus {

// Defaults are those of ImageNet. Members without a comment are as their names say; dtype is that
// of the parameters.
struct ResNetOptions {
  int depth = 18;  // 18, 34, 50 or 101
  int64_t num_classes = 1000;
  DType dtype = DType::kF32;
};

// Maps images (N, H, W, 3) to logits (N, num_classes). Its layers are the stem ("conv1"), the
// blocks "layer1.0" ..., "avgpool" and "fc". Throws BadInput for options out of range.
std::shared_ptr<nn::Sequential> ResNet(const ResNetOptions& options = {});

}  // namespace torus
