// A study: runs in their order, of which those that are done are not done again.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/study/run_store.h"

namespace torus::study {

// Every run with seed 1, then every run with seed 2, ...: a study that is ended early has all its
// rows. BadInput for two runs of one name, and unless `seeds` is 1 to 1000.
std::vector<PlannedRun> SeedsInTurn(const std::vector<PlannedRun>& runs, int seeds);

struct FinishedRun {
  PlannedRun run;
  nlohmann::json result;
};

// Carries out one run; `done` has those before it. None: it was stopped, and so is the study.
using RunFunction = std::function<std::optional<nlohmann::json>(
    const PlannedRun& run, const std::vector<FinishedRun>& done)>;

// The results of all of `runs`, in their order: those that `store` has as they are, the others by
// `carry_out`, each stored at once and taken as stored. `tell` gets a line for each run, and for
// each file that is damaged. What `carry_out` throws ends the study; what was done before stays
// done. A study that is stopped gives what it has.
std::vector<FinishedRun> RunMissing(RunStore& store, const std::vector<PlannedRun>& runs,
                                    const RunFunction& carry_out,
                                    const std::function<void(const std::string&)>& tell = {});

// result[key] of the runs named so, in order of seeds. BadInput where one of them has no such
// number.
std::vector<double> ValuesOf(const std::vector<FinishedRun>& runs, const std::string& name,
                             const std::string& key);

}  // namespace torus::study
