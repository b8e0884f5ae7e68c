// Models by the text that names one: "mobilenet_v2:0.35", "gpt2:4", "amoebanetd:18,256".
#pragma once

#include <string>
#include <vector>

#include "models/registry.h"

namespace torus {

// The model of a name, in the size behind the colon. Its title says that size: "GPT-2 of 4 layers".
struct ModelSpec : ModelDescriptor {
  std::vector<double> sizes_given;  // the numbers behind the colon; empty: as published

  nlohmann::json Config(int64_t outputs) const { return config(sizes_given, outputs); }
};

// BadInput, listing the names, for a name that none of `models` has, and for a colon that the model
// does not take or that other numbers follow.
ModelSpec ParseModelSpec(const std::string& spec,
                         const std::vector<ModelDescriptor>& models = Models());

std::vector<std::string> ModelNames(const std::vector<ModelDescriptor>& models = Models());

// The model of transformers that a config.json describes. BadInput tagged `where`, listing what
// there is, for a "model_type" that none of `models` has.
const ModelDescriptor& DescriptorOfConfig(const nlohmann::json& config, const std::string& where,
                                          const std::vector<ModelDescriptor>& models = Models());

}  // namespace torus
