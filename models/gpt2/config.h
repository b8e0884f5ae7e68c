// GPT-2's options and transformers' config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/gpt2/gpt2.h"

namespace torus {

// Absent keys have transformers' defaults; n_positions, n_embd, n_layer and n_head may have the
// names that transformers uses in other models (max_position_embeddings, hidden_size,
// num_hidden_layers, num_attention_heads). Throws BadInput tagged `where` for another model_type,
// wrong types, two names that disagree, and settings that are not implemented (cross attention).
Gpt2Options Gpt2FromConfig(const nlohmann::json& config, const std::string& where);

// The config.json from which transformers builds the same model. transformers has no GPT-2 without
// biases; such a model gets the key "bias" with value false, which Gpt2FromConfig reads.
nlohmann::json ToConfig(const Gpt2Options& options);

}  // namespace torus
