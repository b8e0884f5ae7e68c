// Llama's options and transformers' config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/llama/llama.h"

namespace torus {

// Absent keys have transformers' defaults. Rotary positions are read from rope_theta and
// rope_scaling, or from rope_parameters, as transformers 5 writes them: of type default, linear or
// llama3, over all of a head's width. Throws BadInput tagged `where` for another model_type, wrong
// types, and settings that are not implemented.
LlamaOptions LlamaFromConfig(const nlohmann::json& config, const std::string& where);

// The config.json from which transformers builds the same model, in keys that every version of it
// reads. bos_token_id and eos_token_id are null: whoever knows the tokenizer fills them in.
nlohmann::json ToConfig(const LlamaOptions& options);

}  // namespace torus
