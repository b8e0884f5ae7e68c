// CutChoice: where a run's model is cut, as its checkpoint keeps it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace torus::recipes {

// What `--cut auto` predicts for the cut it chose.
struct CutPrediction {
  double seconds = 0;              // per step, without data and the all-reduce of replicas
  double bubble = 0;               // as parallel::Bubble::measured
  std::vector<double> peak_bytes;  // of each rank of a pipeline
};

// "62.1 ms a step, bubble 11.0 %, memory of the ranks 20.1 MiB, 18.3 MiB".
std::string ToText(const CutPrediction& prediction);

// Stored in a checkpoint, so that a resumed run has the same cuts, whatever times are measured
// then.
struct CutChoice {
  std::vector<int> cuts;                     // first layer of each stage but the first
  std::vector<double> measured;              // seconds of each layer; empty unless --cut auto
  std::optional<CutPrediction> predicted{};  // of --cut auto
};

nlohmann::json ToJson(const CutPrediction& prediction);
nlohmann::json ToJson(const CutChoice& choice);
// Throws BadInput, prefixed with `where`, if `json` has another form.
CutChoice CutChoiceFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace torus::recipes
