// Training: one run of an experiment's plan, and how a study stores it.
#pragma once

#include <string>
#include <vector>

#include "recipes/settings/settings.h"

namespace torus::study {
struct PlannedRun;
}

namespace torus::experiments {

struct Training {
  std::string name;  // of the row; unique within the experiment
  recipes::Settings settings;
  std::vector<std::string> links = {};  // as recipes::Settings
  int64_t max_steps = 0;                // 0: all epochs
  bool score = true;                    // false: only its times count, those of max_steps steps
  bool times_gpu_work = false;          // as recipes::RunOptions
  // The uncompressed run of the same model and data. If that has no signal, this one is not carried
  // out. Empty: this run is itself a baseline, or needs none.
  std::string baseline = {};
  std::string weights = {};  // initial weights: a file below the data folder; empty: random
  // The run, earlier in the plan, whose final weights this one begins with, in place of `weights`.
  std::string starts_from = {};
  // Runs of all seeds start from this one: it runs with seed 1 alone, and keeps its checkpoint.
  bool starts_others = false;
};

study::PlannedRun ToPlanned(const Training& training);
// Sets the run's seed in the settings. Throws the errors of recipes::SettingsFromJson.
Training FromPlanned(const study::PlannedRun& run);

// Settings from flags: SettingsOf("--model gpt-char --lr 0.1"). Throws the errors of ApplyFlags.
recipes::Settings SettingsOf(const std::string& flags);

}  // namespace torus::experiments
