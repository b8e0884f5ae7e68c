// VGG (Simonyan & Zisserman 2015, "Very deep convolutional networks for large-scale image
// recognition", table 1), with torchvision's names, options and initialization.
#pragma once

#include <cstdint>
#include <memory>

#include "models/nn/sequential.h"

namespace torus {

// The arguments of torchvision's constructors. Members without a comment are as their names say;
// dtype is that of the parameters.
struct VggOptions {
  int depth = 13;  // 11, 13, 16 or 19: configurations A, B, D and E
  bool batch_norm = false;
  int64_t num_classes = 1000;
  int64_t hidden = 4096;  // width of the classifier's first two linear layers
  double dropout = 0.5;   // probability, before the second and third linear layer
  DType dtype = DType::kF32;
};

// Maps images (N, H, W, 3), at least 32 x 32 pixels, to logits (N, num_classes). Its layers are the
// convolutions, each with its batch norm and ReLU ("features.0", ...), the poolings, "avgpool", and
// the three linear layers. Throws BadInput for options out of range.
std::shared_ptr<nn::Sequential> Vgg(const VggOptions& options = {});

}  // namespace torus
