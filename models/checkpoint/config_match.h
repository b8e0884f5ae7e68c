// Checks that weights were trained for the function that a model computes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace torus {

// Throws BadInput tagged `where` that lists every setting in which `theirs` differs from `ours`,
// except those in `may_differ`. Names and shapes of weights do not show the number of heads, the
// activation function or the epsilon of a norm; the config.json beside them does. Both
// configurations must be complete, with defaults filled in. `activation` is the key that holds the
// name of the activation function; names of the same function are equal (nn::ActivationByName).
void RequireSameFunction(const nlohmann::json& theirs, const nlohmann::json& ours,
                         const std::set<std::string>& may_differ, const std::string& activation,
                         const std::string& where);

}  // namespace torus
