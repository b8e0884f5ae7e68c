// Models from transformers' config.json.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/nn/sequential.h"

namespace torus {

// The model that a configuration describes, by "model_type": roberta or gpt2. Its parameters are
// zero. BadInput tagged `where` for another.
std::shared_ptr<nn::Sequential> ModelOfConfig(const nlohmann::json& config,
                                              const std::string& where);

}  // namespace torus
