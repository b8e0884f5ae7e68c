// Where the run's model is cut, and the measurement behind `--cut auto`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "parallel/pipeline/partition.h"
#include "tools/train/task.h"

namespace torus::tools {

// Stored in a checkpoint, so that a resumed run is cut as it was, whatever a clock says then.
struct CutChoice {
  parallel::Cuts cuts;
  std::vector<double> measured;  // seconds of each layer; empty unless --cut auto
};

// BadInput when the model has too few layers for the stages.
CutChoice ChooseCuts(const Task& task, const Settings& settings);

nlohmann::json ToJson(const CutChoice& choice);
// BadInput, tagged `where`, for another form.
CutChoice CutChoiceFromJson(const nlohmann::json& json, const std::string& where);

}  // namespace torus::tools
