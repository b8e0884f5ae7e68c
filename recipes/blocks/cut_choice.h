// CutChoice: where a run's model is cut, as its checkpoint keeps it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace torus::recipes {

// What a cut of `--cut auto` is to give.
struct CutPrediction {
  double seconds = 0;              // of a step, without data and the all-reduce of replicas
  double bubble = 0;               // as parallel::Bubble::measured
  std::vector<double> peak_bytes;  // of each rank of a pipeline
};

// "62.1 ms a step, bubble 11.0 %, memory of the ranks 20.1 MiB, 18.3 MiB".
std::string ToText(const CutPrediction& prediction);

// Stored in a checkpoint, so that a resumed run is cut as it was, whatever a clock says then.
struct CutChoice {
  std::vector<int> cuts;                     // first layer of each stage but the first
  std::vector<double> measured;              // seconds of each layer; empty unless --cut auto
  std::optional<CutPrediction> predicted{};  // of --cut auto
};

nlohmann::json ToJson(const CutPrediction& prediction);
nlohmann::json ToJson(const CutChoice& choice);
// BadInput, tagged `where`, for another form.
CutChoice CutChoiceFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace torus::recipes
