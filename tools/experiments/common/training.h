// Training: one run of an experiment's plan, and how a study stores it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recipes/settings/settings.h"
#include "recipes/study/run_store.h"

namespace torus::experiments {

struct Training {
  std::string name;  // of the row, and its own within the experiment
  recipes::Settings settings;
  std::vector<std::string> links = {};  // as recipes::RunOptions
  int64_t max_steps = 0;                // 0: all epochs
  bool score = true;  // false: only its times count, and max_steps says how many of them
  // The run of the same model and data that goes uncompressed: where that has no signal, this one
  // is not carried out. Empty: it is one itself, or none is needed.
  std::string baseline = {};
  std::string weights = {};  // a file below the data folder to begin with; empty: random ones
};

study::PlannedRun ToPlanned(const Training& training);
// With the run's seed. The errors of recipes::SettingsFromJson.
Training FromPlanned(const study::PlannedRun& run);

// Settings as flags say them: SettingsOf("--model gpt-char --lr 0.1"). The errors of ApplyFlags.
recipes::Settings SettingsOf(const std::string& flags);

}  // namespace torus::experiments
