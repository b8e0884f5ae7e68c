// Which output of a classifier stands for which class, by the names in its config.json.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace torus::recipes {

// For each of `classes` the output that id2label of `config` (of the folder `where`) names so; case
// does not count, and '-' and ' ' are '_'. The names that transformers gives by itself ("LABEL_1"),
// numbers, and a config without id2label mean the outputs in their order. Throws BadInput, with
// both lists, if a class has no output of its name.
std::vector<int64_t> OutputOrder(const nlohmann::json& config,
                                 const std::vector<std::string>& classes, const std::string& where);

// Whether these are the outputs 0, 1, 2, ...
bool IsInOrder(const std::vector<int64_t>& outputs);

}  // namespace torus::recipes
