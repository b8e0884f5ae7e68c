// Where an experiment's data are in the data folder.
#pragma once

#include <optional>
#include <string>

#include "tools/experiments/common/training.h"

namespace torus::experiments {

// Published weights, as Training::weights: MobileNetV2's for ImageNet, ResNet-20's for CIFAR-10,
// and RoBERTa-base's.
inline constexpr char kMobileNetWeights[] =
    "weights/mobilenet_v2/mobilenet_v2_imagenet_dequant_qat.safetensors";
inline constexpr char kResNet20Weights[] = "weights/resnet_cifar10/resnet20-12fca82f.safetensors";
inline constexpr char kRobertaWeights[] = "weights/roberta-base/model.safetensors";

// Fills in data_dir, vocab_dir and init of the training's settings. If data or weights are missing,
// returns a reason that names them.
std::optional<std::string> FindData(const std::string& data, Training& training);

}  // namespace torus::experiments
