// KeptRuns: keeps what each run of a question has measured in a folder of the question, so that a
// question that was ended early goes on behind its last complete run.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "recipes/study/run_store.h"
#include "tools/labs/questions/lab_form.h"
#include "tools/labs/questions/lab_run.h"

namespace torus::labs {

// Figures that depend on their settings alone stay for all later starts.
inline constexpr char kKeptCurves[] = "curves";
// Times are measured anew by each start of a question that came to its end: LabMain removes them
// when the page is written.
inline constexpr char kKeptTimes[] = "times_so_far";

class KeptRuns {
 public:
  // In the folder `folder` of options.out, which no other process may use meanwhile (BadInput).
  KeptRuns(const LabOptions& options, const std::string& folder, Tell tell);

  // What `measure` returns, or what it returned before under this name with these settings, on
  // which it must depend alone. Then tells so.
  nlohmann::json Get(const std::string& name, uint64_t seed, const nlohmann::json& settings,
                     const std::function<nlohmann::json()>& measure);

 private:
  const Tell tell_;
  study::RunStore store_;
};

// The settings of a run, its links, and those of the options that say how much it trains.
nlohmann::json KeySettings(const LabOptions& options, const recipes::Settings& settings);

// Without the losses of its steps and its events.
nlohmann::json ToJson(const Epoch& epoch);
Epoch EpochFromJson(const nlohmann::json& json);
// JSON has null for what is not finite, such as the loss of a run that diverges.
double NumberFromJson(const nlohmann::json& json);

}  // namespace torus::labs
