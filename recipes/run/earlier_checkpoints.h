// The checkpoints of a run besides its newest one: RUN/earlier/step-N, and RUN/best, the best on
// the validation or the test set (Settings::best). Each was the newest checkpoint at some time.
// Keeping it copies nothing if the file system has hard links.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/run/run_folder.h"

namespace torus::recipes {

// The steps of the earlier checkpoints, the latest first.
std::vector<int64_t> EarlierSteps(const RunFolder& folder);

// Keeps the newest checkpoint, which is of step `step`, as an earlier one. To be called before it
// is replaced.
void KeepAsEarlier(const RunFolder& folder, int64_t step);

// Keeps only the latest `most` earlier checkpoints before step `step`. Also removes those from
// `step` on, which belong to a part of the run that was discarded.
void RemoveEarlier(const RunFolder& folder, int64_t step, int64_t most);

// Keeps the newest checkpoint as the best. `result` is that of its evaluation on its "part", for
// RUN/best/test.json.
void KeepAsBest(const RunFolder& folder, const nlohmann::json& result);

// The result of the best checkpoint; null if there is none that was chosen on `part`, "validation"
// or "test": results on different examples cannot be compared.
nlohmann::json BestResult(const RunFolder& folder, const std::string& part);

// Whether `result` is better than `best`: a higher "accuracy" or, without one, a lower "loss". A
// value that is not finite is never better. Any finite value is better than none.
bool IsBetter(const nlohmann::json& result, const nlohmann::json& best);

}  // namespace torus::recipes
