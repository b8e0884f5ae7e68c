// TrainingRun: implements Run: one run, from its first step in this process to its report.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/trainer/trainer.h"
#include "recipes/blocks/cut_choice.h"
#include "recipes/data/left_out.h"
#include "recipes/run/agree_on_options.h"
#include "recipes/run/event_file.h"
#include "recipes/run/gather.h"
#include "recipes/run/gpu_world.h"
#include "recipes/run/metrics_file.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "recipes/run/run_folder.h"
#include "recipes/run/run_memory.h"
#include "recipes/run/run_plans.h"
#include "recipes/run/run_processes.h"
#include "recipes/run/task.h"
#include "runtime/trace.h"

namespace torus::recipes {

// Runs several pieces of work, each of them even if another one failed, and keeps the first error.
class Attempts {
 public:
  explicit Attempts(std::exception_ptr failure) : failure_(std::move(failure)) {}
  template <class Work>
  void Try(const Work& work) {
    try {
      work();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  const std::exception_ptr& failure() const { return failure_; }  // the first

 private:
  std::exception_ptr failure_;
};

// What the processes of a run have used.
struct RunUse {
  ProcessMemory memory;
  cuda::PlanCounts plans;
};

class TrainingRun {
 public:
  // Throws for what can be wrong with settings and data. `whole`: the initial weights must hold the
  // head too. `world` is as in Run. The calling thread has the run's RunContext.
  TrainingRun(const RunOptions& options, const RunCallbacks& callbacks, bool whole,
              parallel::World* world);

  // Makes the trainer; call it once, before what follows. Throws for all that can still be wrong
  // before the first step. From here on a thread that was left behind (parallel::StuckRank) may use
  // this object.
  void Begin();
  RunResult Run();
  // Only evaluates on the test set. Returns none if it was stopped.
  std::optional<Evaluation> EvaluateOnly();

 private:
  // The run to resume, if any; and the run's folder, if training continues in it.
  struct Start {
    OwnRunFolder own;
    std::optional<ResumedRun> resumed;
  };
  static Start Open(const RunOptions& options, bool whole, bool leads);
  TrainingRun(const RunOptions& options, const RunCallbacks& callbacks, bool whole,
              parallel::World* world, Start start);

  void TakeFolder();
  void ShareFolder();
  void OpenFiles();
  void MarkBegun();
  int64_t NewestStep() const;
  nlohmann::json SummaryInFolder() const;
  std::string LimitingFlag() const;
  bool EndedEarly(const nlohmann::json& summary) const;
  std::optional<RunResult> LeftByEnd();
  void RequireSameCheckpoint(const ResumedRun& run) const;
  void Say(const std::string& line) const;
  void SayHead();
  std::string SumsLine() const;
  void SayLeftOut();
  void SayTruncated() const;
  void SaySkipped(int64_t steps) const;
  void KeepLastGood();
  bool SavesAt(int64_t step) const { return IsDue(step, options_.checkpoint_every); }
  bool EvaluatesAt(int64_t step) const { return IsDue(step, options_.eval_every); }
  bool IsDue(int64_t step, int64_t every) const;
  int64_t NextPause(int64_t step) const;
  void TrainAll();
  bool TrainUntil(int64_t end, const parallel::BatchFn& batches);
  std::shared_ptr<BatchFeed> Feed(const DataPart& part, const Settings& settings,
                                  int64_t first_step) const;
  bool Stops() const;
  bool Traced(int64_t step) const;
  void OnStep(const parallel::StepReport& report);
  // A part of the data to evaluate on, and its last result that was not stopped.
  struct Evaluated {
    const char* name;
    const DataPart& part;
    std::optional<parallel::EvaluationResult> score{};
    int64_t step = -1;  // after which it was evaluated
  };
  bool IsAtEnd() const { return trainer_->step() >= end_ || out_of_patience_; }
  bool Validates() const { return validation_.part.size > 0; }
  const Evaluated& chooser() const { return settings_.best == "test" ? test_ : validation_; }
  bool Evaluate();
  bool EvaluateOn(Evaluated& on);
  std::optional<Evaluation> ResultOf(const Evaluated& on) const;
  nlohmann::json LineOf(const char* key, const Evaluated& on) const;
  void Record(const Evaluated& on);
  void Save();
  void KeepIfBest(const Evaluated& on);
  bool LacksFigure() const;
  bool IsOutOfPatience() const;
  void SayIfOutOfPatience();
  std::string WhyNoScore() const;
  bool Agree(const std::function<bool()>& decide, const char* what) const;
  bool TrainAndTest();
  nlohmann::json Summary(bool finished, const std::string& error, const RunUse& use) const;
  nlohmann::json WithEarlierTimes(const nlohmann::json& now) const;
  std::vector<trace::Event> EventsInFolder() const;
  double MedianStepSeconds() const;
  void KeepEvents();
  std::string Export();
  void WriteFiles(bool finished, const RunUse& use, Attempts& attempts, RunResult& result);
  RunResult Finish(bool finished, std::exception_ptr failure);
  double EpochOf(int64_t step) const;
  bool HasAccuracy() const { return task_.data().correct != nullptr; }

  const RunProcesses processes_;
  const AgreedOptions agreed_;
  const RunOptions options_;
  const RunMemory memory_;
  const RunCallbacks callbacks_;  // empty unless this process leads
  const Task task_;
  const Settings& settings_;
  const int64_t steps_per_epoch_;
  const CutChoice cuts_;
  const GpuWorld gpus_;
  RunPlans plans_;
  const parallel::TrainerOptions trainer_options_;
  std::optional<parallel::Trainer> trainer_;  // from Begin on
  const int64_t begin_, end_;                 // the steps to run here
  OwnRunFolder own_;
  std::optional<ResumedRun> resumed_;  // until Begin
  const bool whole_;
  const RunFolder& folder_ = own_.folder;
  std::unique_ptr<MetricsFile> metrics_;
  std::unique_ptr<EventFile> event_file_;
  std::vector<trace::Event> events_;
  Evaluated validation_{"validation", task_.data().validation}, test_{"test", task_.data().test};
  nlohmann::json best_;  // result of the best evaluation so far
  bool out_of_patience_ = false;
  bool keeps_files_ = false;    // whether some process keeps files in the run's folder
  nlohmann::json earlier_;      // the folder's summary, if nothing is left to train
  int64_t saved_at_ = -1;       // step of the newest checkpoint in the folder
  const std::string note_;      // why a newer checkpoint was skipped
  const std::string new_rate_;  // the learning rate, if more epochs change it
  LeftOutNotes left_out_;
  LeftOutNotes passed_over_{"", Omitted::kOthers};
};

}  // namespace torus::recipes
