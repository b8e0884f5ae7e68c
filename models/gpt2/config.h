// GPT-2's options and transformers' config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/gpt2/gpt2.h"

namespace torus {

// Absent keys have transformers' defaults. BadInput tagged `where` for another model_type, wrong
// types, and what this implementation has not (cross attention).
Gpt2Options Gpt2FromConfig(const nlohmann::json& config, const std::string& where);

// What transformers needs to make the same model; of one without biases there is none, and the key
// "bias" says so.
nlohmann::json ToConfig(const Gpt2Options& options);

}  // namespace torus
