// The models that cases name.
#pragma once

#include <memory>

#include "models/nn/sequential.h"
#include "tools/replay/case.h"

namespace torus::replay {

// mobilenet_v2, vgg11 ... vgg19 (and _bn), resnet18 ... resnet101, roberta (sequence
// classification), gpt2; dropout off. Unsupported for another model or an option that we have not.
std::shared_ptr<nn::Sequential> BuildModel(const Case& c);

}  // namespace torus::replay
