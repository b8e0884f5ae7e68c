// TrainingRun: one run of tools/train from its first step here to its report.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parallel/trainer/trainer.h"
#include "recipes/blocks/choose_cuts.h"
#include "recipes/run/metrics_file.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run_folder.h"
#include "recipes/run/task.h"
#include "runtime/trace.h"
#include "tools/train/invocation.h"
#include "tools/train/progress_line.h"

namespace torus::tools {

class TrainingRun {
 public:
  // All that can be wrong with flags and files is found here, before the first step. `resumed`: the
  // run to go on with, whose settings the invocation has taken.
  TrainingRun(Invocation invocation, std::optional<recipes::ResumedRun> resumed);

  // Returns the program's status: 0, or 128 + the signal that stopped it.
  int Run();
  // The test set alone.
  void EvaluateOnly();

 private:
  void Print(const std::string& text) { progress_.Print(text); }
  void PrintHead();
  void PrintLeftOut();
  void PrintTruncated();
  int64_t NextPause(int64_t step) const;
  void TrainUntil(int64_t end, recipes::BatchFeed& feed);
  bool Traced(int64_t step) const;
  void OnStep(const parallel::StepReport& report);
  void Evaluate();
  void Save();
  void Finish(bool finished);
  double EpochOf(int64_t step) const;
  bool HasAccuracy() const { return task_.data().correct != nullptr; }

  const Invocation invocation_;
  const recipes::Task task_;
  const recipes::Settings& settings_;
  const int64_t steps_per_epoch_;
  const recipes::CutChoice cuts_;
  parallel::Trainer trainer_;
  const int64_t begin_, end_;  // the steps to run here
  ProgressLine progress_;
  recipes::RunFolder folder_;
  std::unique_ptr<recipes::MetricsFile> metrics_;
  std::vector<trace::Event> events_;
  std::optional<parallel::EvaluationResult> test_;
  int64_t tested_at_ = -1, saved_at_ = -1;
  std::set<std::string> told_;  // what was left out and has been said
};

}  // namespace torus::tools
