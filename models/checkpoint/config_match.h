// Whether weights were trained for the function that a model computes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace torus {

// Names and shapes of weights do not show how many attention heads share them, which activation
// function follows or which epsilon a norm has, but the config.json beside them does. BadInput
// tagged `where` that lists all settings of `ours` that `theirs` has otherwise. Both are complete:
// no default is left out. Those of `may_differ` are not compared. `activation` is the key of an
// activation function's name, of which each has several (nn::ActivationByName).
void RequireSameFunction(const nlohmann::json& theirs, const nlohmann::json& ours,
                         const std::set<std::string>& may_differ, const std::string& activation,
                         const std::string& where);

}  // namespace torus
