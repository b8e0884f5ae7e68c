// StepRunner: runs a rank's actions of one mini-batch, on the stages of this rank.
#pragma once

#include <map>
#include <vector>

#include "parallel/pipeline/action_clock.h"
#include "parallel/pipeline/executor_options.h"
#include "parallel/pipeline/local_stage.h"
#include "parallel/pipeline/mini_batch.h"
#include "parallel/schedule/schedule.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class StepRunner {
 public:
  // All must outlive the runner. `local`: the stages that the schedule gives this rank, connected.
  StepRunner(Transport& transport, const Schedule& schedule, const ExecutorOptions& options,
             std::map<int, LocalStage>& local)
      : transport_(transport), schedule_(schedule), options_(options), local_(local) {}

  // One mini-batch; `training`: with backwards, reduce and step. The schedule runs once for every
  // schedule.num_micro_batches of it, and reduces and steps in the last of these rounds alone.
  StepResult Run(const MiniBatch& batch, bool training);

  // As Executor's.
  bool finite() const;
  double loss() const;

  const RankTotals& totals() const { return clock_.totals(); }

 private:
  void RunRound(int first, bool last);
  void Flush();
  bool Skips(const Action& action, bool last_round) const;
  void Do(const Action& action);
  void Dispatch(const Action& action, LocalStage& stage);
  void Forward(const Action& action, LocalStage& stage);
  void Backward(const Action& action, LocalStage& stage);
  void Transfer(const Action& action, LocalStage& stage);
  void Step(const Action& action, LocalStage& stage);
  StepContext ContextOf(int micro_batch) const;
  // Where the micro-batch lies in the stages' lists, which hold one round's.
  size_t SlotOf(const Action& action) const {
    return static_cast<size_t>(action.micro_batch - first_);
  }
  bool IsLast(int stage) const { return stage == schedule_.num_stages - 1; }
  LocalStage* Local(int stage);

  Transport& transport_;
  const Schedule& schedule_;
  const ExecutorOptions& options_;
  std::map<int, LocalStage>& local_;
  ActionClock clock_;
  // Of the step that runs.
  const MiniBatch* batch_ = nullptr;
  bool training_ = true;
  int first_ = 0;  // micro-batch of the round that runs
};

}  // namespace torus::parallel
