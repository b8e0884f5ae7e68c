// The checkpoints of a run beside its newest: RUN/earlier/step-N, and RUN/best by the test figure.
// They are the newest of their time under a second name, without a copy where the file system has
// hard links.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/run/run_folder.h"

namespace torus::recipes {

// Steps of the earlier ones, the latest first.
std::vector<int64_t> EarlierSteps(const RunFolder& folder);

// Keeps the newest one, which is of `step`, before another takes its place.
void KeepAsEarlier(const RunFolder& folder, int64_t step);

// Leaves the latest `most` of those before `step`. Those from `step` on are of a part of the run
// that was taken back.
void RemoveEarlier(const RunFolder& folder, int64_t step, int64_t most);

// Keeps the newest one as the best. `test`: its figures, RUN/best/test.json.
void KeepAsBest(const RunFolder& folder, const nlohmann::json& test);

// The figures of the best one; null where there is none.
nlohmann::json BestTest(const RunFolder& folder);

// Whether `test` is better than `best`: the higher "accuracy", else the lower "loss". What is not
// finite is never better, and anything finite is better than none.
bool IsBetter(const nlohmann::json& test, const nlohmann::json& best);

}  // namespace torus::recipes
