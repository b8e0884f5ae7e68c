#include "recipes/blocks/cut_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/error.h"

namespace torus::recipes {

using Json = nlohmann::json;

Json ToJson(const CutChoice& choice) {
  return {{"cuts", choice.cuts}, {"measured_seconds", choice.measured}};
}

CutChoice CutChoiceFromJson(const Json& json, const std::string& where) {
  const auto list = [&](const char* key, auto fits) {
    const bool is = json.is_object() && json.contains(key) && json[key].is_array() &&
                    std::ranges::all_of(json[key], fits);
    Require(is, where, "the cut must have a list of numbers \"{}\"", key);
    return json[key];
  };
  // The first layers of stages: what is no number of a layer is found when the model is cut.
  const auto place = [](const Json& cut) {
    return cut.is_number_integer() && cut >= 0 && cut <= 1 << 20;
  };
  const auto seconds = [](const Json& time) { return time.is_number(); };
  return {list("cuts", place).get<std::vector<int>>(),
          list("measured_seconds", seconds).get<std::vector<double>>()};
}

}  // namespace torus::recipes
