// Models by the name that --model takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/nn/sequential.h"

namespace torus::tools {

struct ModelSpec {
  std::string name;       // "mobilenet_v2"
  std::string title;      // "MobileNetV2"
  double width_mult = 1;  // "mobilenet_v2:0.35"
};

// BadInput, listing the names, for another.
ModelSpec ParseModelSpec(const std::string& spec);

// A model with `classes` outputs, initialised from `seed`; then, where `weights_file` is not empty,
// loaded from it (the errors of LoadModel).
std::shared_ptr<nn::Sequential> BuildModel(const std::string& spec, int64_t classes, uint64_t seed,
                                           const std::string& weights_file);

}  // namespace torus::tools
