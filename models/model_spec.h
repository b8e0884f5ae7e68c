// Finds models by spec strings such as "mobilenet_v2:0.35", "gpt2:4" or "amoebanetd:18,256".
#pragma once

#include <string>
#include <vector>

#include "models/registry.h"

namespace torus {

// A model in the size after the colon. Its title includes that size: "GPT-2 of 4 layers", and
// `published` has its sizes.
struct ModelSpec : ModelDescriptor {
  std::vector<double> sizes_given;  // the numbers after the colon; empty: as published

  nlohmann::json Config(int64_t outputs) const;
};

// Throws BadInput that lists the known names if none of `models` has the name. Throws BadInput if
// the model takes no sizes after a colon, or other ones.
ModelSpec ParseModelSpec(const std::string& spec,
                         const std::vector<ModelDescriptor>& models = Models());

std::vector<std::string> ModelNames(const std::vector<ModelDescriptor>& models = Models());

// Finds the model that a config.json of transformers describes. Throws BadInput tagged `where` that
// lists the known types if none of `models` has its "model_type".
const ModelDescriptor& DescriptorOfConfig(const nlohmann::json& config, const std::string& where,
                                          const std::vector<ModelDescriptor>& models = Models());

}  // namespace torus
