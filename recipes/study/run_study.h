// Carries out the runs of a study in order, skipping those that are done.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/study/run_store.h"

namespace torus::study {

// Returns every run with seed 1, then every run with seed 2, and so on; so a study that ends early
// has all its rows. Throws BadInput if two runs have the same name, or unless `seeds` is 1 to 1000.
std::vector<PlannedRun> SeedsInTurn(const std::vector<PlannedRun>& runs, int seeds);

struct FinishedRun {
  PlannedRun run;
  nlohmann::json result;
};

// Carries out one run; `done` holds the runs before it. Returns none if it was stopped, which stops
// the study.
using RunFunction = std::function<std::optional<nlohmann::json>(
    const PlannedRun& run, const std::vector<FinishedRun>& done)>;

// Returns the results of all of `runs`, in their order. Takes from `store` what it has, and calls
// `carry_out` for the others. Each new result is stored at once, and returned as stored. `tell`
// gets a line for each run and for each damaged file. An exception from `carry_out` ends the study;
// results stored before remain. A study that is stopped returns the results so far.
std::vector<FinishedRun> RunMissing(RunStore& store, const std::vector<PlannedRun>& runs,
                                    const RunFunction& carry_out,
                                    const std::function<void(const std::string&)>& tell = {});

// result[key] of the runs with this name, in order of seeds. Throws BadInput if one of them has no
// such number.
std::vector<double> ValuesOf(const std::vector<FinishedRun>& runs, const std::string& name,
                             const std::string& key);

}  // namespace torus::study
