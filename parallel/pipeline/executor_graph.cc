// How an executor computes on a GPU without waiting for it: steps as graphs, and values that are
// checked later.
#include <algorithm>
#include <iterator>

#include "parallel/pipeline/executor.h"
#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

bool Computes(const Action& action) { return IsCompute(action.kind); }

}  // namespace

void Executor::MakeGraph() {
  Require(checks_.has_value() && schedule_.num_ranks == 1, "pipeline",
          "a step is a CUDA graph on a GPU that runs all stages; got a schedule of {} ranks on {}",
          schedule_.num_ranks, options_.device);
  std::vector<StageRunner*> runners;
  for (auto& [s, runner] : stages_) runners.push_back(&runner);
  graph_ = std::make_unique<StepGraph>(options_.device, std::move(runners), *checks_,
                                       options_.graphs == CudaGraphs::kOn);
}

void Executor::RenewLowCopies() {
  if (!options_.round_weights) return;
  for (auto& [s, runner] : stages_) runner.stage().RenewLowCopies(options_.round_weights);
}

void Executor::CheckValues() {
  if (checks_) checks_->Report();
}

// Moves reduces and steps after all forwards and backwards, which can then be one graph.
void Executor::ComputeFirst() { std::ranges::stable_partition(actions_, Computes); }

void Executor::ComputeAll() {
  for (size_t i = 0; i < actions_.size() && Computes(actions_[i]); ++i) Do(actions_[i]);
}

// Called before the gradients are used: only when the GPU has computed them is it known whether the
// launch was valid. Not called within another action, because each repeated action measures its own
// time.
void Executor::MakeSureOfGraph() {
  if (!graph_ || graph_->Held()) return;
  RenewLowCopies();
  ComputeAll();
}

// Returns the number of actions done.
size_t Executor::ComputeAsGraph() {
  transport_.ThrowIfAborted();
  TickProgress();
  const auto end = std::ranges::find_if_not(actions_, Computes);
  const int64_t launched = graph_->launched();
  const MiniBatch& batch = *batch_;
  const ActionClock::Mark begin = clock_.Begin();
  graph_->Run(batch, [&](const MiniBatch& same) {
    batch_ = &same;
    ComputeAll();
  });
  batch_ = &batch;
  if (graph_->launched() > launched && end != actions_.begin())
    clock_.End(*std::prev(end), batch.step, begin);
  return static_cast<size_t>(end - actions_.begin());
}

}  // namespace torus::parallel
