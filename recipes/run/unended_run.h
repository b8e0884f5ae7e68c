// What a run's folder tells of a run that has not ended: its process was killed, or still runs.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "recipes/run/run_folder.h"

namespace torus::recipes {

// `summary` as it is, unless it says that its run has not ended ("ended": false). Then it gets the
// steps, the last evaluation and, if it has times of no step, the times that `metrics` (the lines
// of metrics.jsonl) have. What nobody has measured by then is null.
nlohmann::json UpToMetrics(nlohmann::json summary, const std::vector<nlohmann::json>& metrics);

// The summary of a run that left none, with the settings of its newest checkpoint if it has one.
nlohmann::json SummaryOfNone(const RunFolder& folder);

}  // namespace torus::recipes
