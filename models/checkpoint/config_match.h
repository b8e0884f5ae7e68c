// Whether weights were trained in the function that a model computes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace torus {

// Names and shapes of weights do not show how many attention heads share them, which activation
// function follows or which epsilon a norm has, but the config.json beside them does. BadInput
// tagged `where` that lists all settings in which the model of `config` computes another function
// than that of `ours`, a configuration of ToConfig; and the errors of Gpt2FromConfig or
// RobertaFromConfig. What the model ends in, labels, dropout, first values and the number of words
// may differ.
void RequireSameFunction(const nlohmann::json& config, const nlohmann::json& ours,
                         const std::string& where);

}  // namespace torus
