// CarryOut: carries out one run of an experiment's plan with recipes::Run.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/study/run_study.h"
#include "tools/experiments/common/chance.h"
#include "tools/experiments/common/options.h"
#include "tools/experiments/common/training.h"

namespace torus::experiments {

class CarryOut {
 public:
  CarryOut(Options options, std::function<void(const std::string&)> tell,
           std::function<bool()> stop);

  // Returns the run's results: "samples_per_second" by the median step, "step_seconds", seconds of
  // a step's parts (SteadyTimes), "activation_bytes" and "gradient_bytes" per step over all links.
  // If the run is scored, also "loss", "accuracy" in percent or "perplexity", "matthews" for CoLA,
  // "majority" or "unigrams", "signal". If its baseline had no signal: {"no_signal": true}. If its
  // loss became non-finite, in training or only in the test: "diverged": true in place of the
  // scores. None if `stop` ended it. OUT/runs/NAME-SEED keeps report, summary and metrics.
  std::optional<nlohmann::json> operator()(const study::PlannedRun& run,
                                           const std::vector<study::FinishedRun>& done);

 private:
  std::string FolderOf(const study::PlannedRun& run) const;
  // Throws BadInput if it is missing.
  std::string CheckpointOf(const study::PlannedRun& run) const;
  // summary.json of the run; none if `stop` ended it.
  std::optional<nlohmann::json> Summary(const Training& training, const std::string& folder);
  const Chance& ChanceFor(const recipes::Settings& settings);
  void AddScore(const Training& training, const nlohmann::json& summary, const std::string& folder,
                nlohmann::json& figures);

  const Options options_;
  const std::function<void(const std::string&)> tell_;
  const std::function<bool()> stop_;
  std::map<std::string, Chance> chances_;  // by data and size
};

}  // namespace torus::experiments
