// The summary of a run: summary.json, and the text printed at the end.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ops/cuda/plans.h"
#include "parallel/trainer/trainer.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/settings/settings.h"
#include "runtime/allocator.h"

namespace torus::recipes {

struct SummaryInput {
  std::string title;
  std::string unit;      // what samples are called: "images"
  bool accuracy = true;  // a classifier; false: a language model, which has a perplexity instead
  const Settings& settings;
  const CutChoice& cuts;
  const parallel::Trainer& trainer;
  int64_t resumed_from = 0;  // step
  int64_t steps_per_epoch = 1;
  bool finished = true;    // false: stopped, or ended by `error`
  int64_t early_stop = 0;  // the patience that was at its end; 0: it was not
  std::string error{};     // that ended the run; empty: none
  std::optional<parallel::EvaluationResult> test, validation{};
  double step_seconds = 0;  // median
  MemoryStats memory;
  std::vector<uint64_t> rank_peaks{};       // bytes; empty where the ranks share a process
  std::optional<cuda::PlanCounts> plans{};  // of all ranks; none on a CPU
};

// {"samples", "loss"} and either {"correct", "accuracy"} or {"perplexity"}, which is exp(loss);
// null if the loss is not finite.
nlohmann::json ScoreJson(const parallel::EvaluationResult& test, bool accuracy);

// Times, bytes and samples_per_second cover only the steps since this start or resume
// ("steps_here"); "steps" counts from the beginning of the run.
nlohmann::json MakeSummary(const SummaryInput& input);

// The text printed at the end of a run, a dozen lines.
std::string ToText(const nlohmann::json& summary);

}  // namespace torus::recipes
