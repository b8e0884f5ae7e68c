#include "parallel/pipeline/step_runner.h"

#include <algorithm>
#include <utility>

#include "parallel/pipeline/action_text.h"
#include "parallel/pipeline/add_context.h"
#include "parallel/schedule/printer.h"
#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {

using Tensors = std::vector<Tensor>;

double StepRunner::loss() const {
  const auto last = local_.find(schedule_.num_stages - 1);
  return last == local_.end() ? 0 : last->second.worker.loss();
}

LocalStage* StepRunner::Local(int stage) {
  const auto it = local_.find(stage);
  return it == local_.end() ? nullptr : &it->second;
}

StepResult StepRunner::Run(const MiniBatch& batch, bool training) {
  batch_ = &batch;
  training_ = training;
  for (auto& [s, stage] : local_) stage.Reset();
  const int all = static_cast<int>(batch.micro_batches.size());
  for (int first = 0; first < all; first += schedule_.num_micro_batches)
    RunRound(first, first + schedule_.num_micro_batches >= all);
  Flush();
  return {.loss = loss()};
}

bool StepRunner::finite() const {
  return std::ranges::all_of(local_, [](const auto& stage) { return stage.second.finite(); });
}

void StepRunner::RunRound(int first, bool last) {
  first_ = first;
  for (Action action : schedule_.ranks[transport_.rank()]) {
    if (action.micro_batch >= 0) action.micro_batch += first;
    if (!Skips(action, last)) Do(action);
  }
}

// All that the step has sent must have been received before its buffers are used again.
void StepRunner::Flush() {
  for (auto& [s, stage] : local_) {
    if (!stage.activation_out && !stage.gradient_out) continue;
    try {
      clock_.Transfer("flush", batch_->step, -1, [&] { stage.Flush(clock_.totals()); });
    } catch (...) {
      RethrowWithContext(fmt::format("rank {}, stage {}, step {}, end of the step",
                                     transport_.world_rank(), s, batch_->step));
    }
  }
}

bool StepRunner::Skips(const Action& action, bool last_round) const {
  const bool forward = IsForward(action.kind) || action.kind == ActionKind::kSendActivation ||
                       action.kind == ActionKind::kRecvActivation;
  if (!training_ && !forward) return true;
  if (action.micro_batch < 0) return !last_round;
  return batch_->micro_batches[action.micro_batch].samples.empty();
}

void StepRunner::Do(const Action& action) {
  try {
    transport_.ThrowIfAborted();
    TickProgress();
    if (options_.before_action) options_.before_action(action, batch_->step);
    Dispatch(action, local_.at(action.stage));
  } catch (...) {
    RethrowWithContext(PlaceOf(action, transport_.world_rank(), batch_->step));
  }
}

void StepRunner::Dispatch(const Action& action, LocalStage& stage) {
  RankTotals& totals = clock_.totals();
  const auto timed = [&](const char* category, double& total, const auto& f) {
    clock_.Timed(action, batch_->step, category, total, f);
  };
  switch (action.kind) {
    case ActionKind::kForward:
      return timed("forward", totals.forward, [&] { Forward(action, stage); });
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
    case ActionKind::kBackwardWeight:
      return timed("backward", totals.backward, [&] { Backward(action, stage); });
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
      return clock_.Transfer(ShortName(action), batch_->step, action.micro_batch,
                             [&] { Transfer(action, stage); });
    case ActionKind::kReduce:
      return timed("reduce", totals.reduce, [&] {
        if (options_.on_reduce) options_.on_reduce(action.stage, batch_->step);
      });
    case ActionKind::kStep:
      return timed("optimizer", totals.optimizer, [&] { Step(action, stage); });
  }
}

StepContext StepRunner::ContextOf(int m) const {
  StepContext context;
  context.seed = batch_->seed;
  context.step = batch_->step;
  context.micro_batch = m;
  context.training = training_;
  context.samples = batch_->micro_batches[m].samples;
  return context;
}

void StepRunner::Forward(const Action& action, LocalStage& stage) {
  const MicroBatch& micro_batch = batch_->micro_batches[action.micro_batch];
  const size_t slot = SlotOf(action);
  StageWorker::Target target;
  target.weight =
      static_cast<double>(micro_batch.samples.size()) / static_cast<double>(batch_->global_samples);
  if (IsLast(action.stage)) target.tensors = micro_batch.targets;
  Tensors inputs = action.stage == 0 ? micro_batch.inputs : std::exchange(stage.inputs[slot], {});
  Tensors outputs =
      stage.worker.Forward(slot, std::move(inputs), target, ContextOf(action.micro_batch));
  LocalStage* next = Local(action.stage + 1);
  (next != nullptr ? next->inputs[slot] : stage.outputs[slot]) = std::move(outputs);
}

void StepRunner::Backward(const Action& action, LocalStage& stage) {
  const size_t slot = SlotOf(action);
  if (action.kind == ActionKind::kBackwardWeight) return stage.worker.BackwardWeight(slot);
  const Tensors output_grads = std::exchange(stage.output_grads[slot], {});
  Tensors grads = action.kind == ActionKind::kBackward
                      ? stage.worker.Backward(slot, output_grads)
                      : stage.worker.BackwardInput(slot, output_grads);
  LocalStage* previous = Local(action.stage - 1);
  auto& place = previous != nullptr ? previous->output_grads : stage.input_grads;
  if (action.stage > 0) place[slot] = std::move(grads);
}

void StepRunner::Transfer(const Action& action, LocalStage& stage) {
  const size_t slot = SlotOf(action);
  const int m = static_cast<int>(slot);
  const std::string what = MessageOf(action, batch_->step);
  RankTotals& totals = clock_.totals();
  switch (action.kind) {
    case ActionKind::kSendActivation:
      return stage.activation_out->Send(m, std::exchange(stage.outputs[slot], {}), what, totals);
    case ActionKind::kRecvActivation:
      stage.inputs[slot] = stage.activation_in->Recv(m, what, totals);
      return;
    case ActionKind::kSendGradient:
      return stage.gradient_out->Send(m, std::exchange(stage.input_grads[slot], {}), what, totals);
    default:
      stage.output_grads[slot] = stage.gradient_in->Recv(m, what, totals);
  }
}

void StepRunner::Step(const Action& action, LocalStage& stage) {
  const bool taken = !options_.on_step || options_.on_step(action.stage, batch_->step);
  stage.worker.stage().EndMiniBatch(taken);
}

}  // namespace torus::parallel
