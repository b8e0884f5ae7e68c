// CutChoice: where a run's model is cut, as its checkpoint keeps it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace torus::recipes {

// Stored in a checkpoint, so that a resumed run is cut as it was, whatever a clock says then.
struct CutChoice {
  std::vector<int> cuts;         // first layer of each stage but the first
  std::vector<double> measured;  // seconds of each layer; empty unless --cut auto
};

nlohmann::json ToJson(const CutChoice& choice);
// BadInput, tagged `where`, for another form.
CutChoice CutChoiceFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace torus::recipes
