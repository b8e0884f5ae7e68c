#include "tools/experiments/common/training.h"

#include <nlohmann/json.hpp>

#include "recipes/settings/apply_flags.h"
#include "recipes/settings/settings_json.h"
#include "recipes/study/run_store.h"

namespace torus::experiments {

study::PlannedRun ToPlanned(const Training& training) {
  nlohmann::json settings = ToJson(training.settings);
  settings.erase("link");  // a training has them beside its settings
  study::PlannedRun run{training.name,
                        1,
                        {{"settings", settings},
                         {"links", training.links},
                         {"max_steps", training.max_steps},
                         {"score", training.score},
                         {"baseline", training.baseline},
                         {"weights", training.weights}}};
  // Left out where they say nothing, so that results from before they existed are still found.
  if (!training.starts_from.empty()) run.settings["starts_from"] = training.starts_from;
  if (training.times_gpu_work) run.settings["times_gpu_work"] = true;
  if (training.starts_others) run.settings["starts_others"] = true;
  return run;
}

Training FromPlanned(const study::PlannedRun& run) {
  nlohmann::json json = run.settings;
  json.at("settings").emplace("link", nlohmann::json::array());
  Training training{.name = run.name,
                    .settings = recipes::SettingsFromJson(json.at("settings"), run.name),
                    .links = json.at("links"),
                    .max_steps = json.at("max_steps"),
                    .score = json.at("score"),
                    .times_gpu_work = json.value("times_gpu_work", false),
                    .baseline = json.at("baseline"),
                    .weights = json.at("weights"),
                    .starts_from = json.value("starts_from", ""),
                    .starts_others = json.value("starts_others", false)};
  training.settings.seed = run.seed;
  return training;
}

recipes::Settings SettingsOf(const std::string& flags) {
  recipes::Settings settings;
  recipes::ApplyFlags(flags, settings);
  return settings;
}

}  // namespace torus::experiments
