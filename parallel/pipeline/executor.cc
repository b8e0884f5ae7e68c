#include "parallel/pipeline/executor.h"

#include <optional>
#include <utility>

#include "parallel/pipeline/action_text.h"
#include "parallel/pipeline/add_context.h"
#include "parallel/pipeline/local_stage.h"
#include "parallel/pipeline/shape_agreement.h"
#include "parallel/schedule/printer.h"
#include "runtime/error.h"
#include "runtime/progress.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

using Tensors = std::vector<Tensor>;

double Seconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

struct Executor::State {
  State(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
        ExecutorOptions options)
      : transport(transport),
        schedule(std::move(schedule)),
        options(std::move(options)),
        owners(StageOwners(this->schedule)) {
    CheckStages(stages);
    for (const auto& [index, stage] : stages) {
      const LossFn* loss = IsLast(index) ? &this->options.loss : nullptr;
      local.try_emplace(index, StageWorker(*stage, index == 0, loss, MicroBatches()), index,
                        MicroBatches());
    }
  }

  int MicroBatches() const { return schedule.num_micro_batches; }
  bool IsLast(int stage) const { return stage == schedule.num_stages - 1; }
  // The rank of `stage` when it is another one, else -1 (also outside of the model).
  int Remote(int stage) const {
    if (stage < 0 || stage >= schedule.num_stages) return -1;
    return owners[stage] == transport.rank() ? -1 : owners[stage];
  }
  LocalStage* Local(int stage) {
    const auto it = local.find(stage);
    return it == local.end() ? nullptr : &it->second;
  }

  void CheckStages(const std::map<int, Stage*>& stages) const;
  void AgreeOnShapes(const std::vector<TensorSpec>& inputs);

  StepResult Run(const MiniBatch& batch, bool training);
  void CheckBatch(const MiniBatch& batch) const;
  void Flush();
  bool Skips(const Action& action) const;
  void Do(const Action& action);
  void Dispatch(const Action& action, LocalStage& stage);
  void Forward(const Action& action, LocalStage& stage);
  void KeepInputGrads(const Action& action, LocalStage& stage, Tensors grads);
  void Transfer(const Action& action, LocalStage& stage);
  void Step(const Action& action, LocalStage& stage);
  template <class F>
  void Timed(const Action& action, const char* category, double& total, const F& f);

  StepContext ContextOf(int micro_batch) const;

  Transport& transport;
  const Schedule schedule;
  const ExecutorOptions options;
  const std::vector<int> owners;
  std::map<int, LocalStage> local;
  RankTotals totals;
  bool agreed = false;
  // Of the step that runs.
  const MiniBatch* batch = nullptr;
  bool training = true;
};

void Executor::State::CheckStages(const std::map<int, Stage*>& stages) const {
  Require(transport.size() == schedule.num_ranks, "pipeline",
          "schedule {} is for {} ranks, the transport has {}", schedule.name, schedule.num_ranks,
          transport.size());
  for (int s = 0; s < schedule.num_stages; ++s) {
    const auto it = stages.find(s);
    const bool here = it != stages.end() && it->second != nullptr;
    Require(here == (owners[s] == transport.rank()), "pipeline",
            "stage {} belongs to rank {}; rank {} was {} it", s, owners[s], transport.rank(),
            here ? "given" : "not given");
    Require(!here || !IsLast(s) || options.loss != nullptr, "pipeline",
            "rank {} runs the last stage and needs a loss", transport.rank());
  }
  Require(stages.empty() || stages.rbegin()->first < schedule.num_stages, "pipeline",
          "there is no stage {} of {}", stages.empty() ? 0 : stages.rbegin()->first,
          schedule.num_stages);
}

// ---- before step 0 ----

void Executor::State::AgreeOnShapes(const std::vector<TensorSpec>& inputs) {
  std::vector<TensorSpec> made = inputs;  // by the stage before, where that is of this rank too
  for (auto& [s, stage] : local) {
    const int before = Remote(s - 1), after = Remote(s + 1);
    try {
      const std::vector<TensorSpec> in = before >= 0 ? RecvSpecs(transport, before, s) : made;
      made = DryRun(stage.worker.stage(), in);
      if (after >= 0) SendSpecs(transport, after, s + 1, made);
      stage.Connect(
          {&transport, before, after, options.activation_codec.get(), options.gradient_codec.get()},
          in, made);
    } catch (...) {
      RethrowWithContext(
          fmt::format("rank {}, stage {}, before step 0", transport.world_rank(), s));
    }
  }
  agreed = true;
}

// ---- one step ----

void Executor::State::CheckBatch(const MiniBatch& mini_batch) const {
  Require(agreed, "pipeline", "AgreeOnShapes comes before the first step");
  Require(static_cast<int>(mini_batch.micro_batches.size()) == MicroBatches(), "pipeline",
          "schedule {} has {} micro-batches, step {} brings {}", schedule.name, MicroBatches(),
          mini_batch.step, mini_batch.micro_batches.size());
  Require(mini_batch.global_samples > 0, "pipeline", "step {} has no samples", mini_batch.step);
}

StepResult Executor::State::Run(const MiniBatch& mini_batch, bool train) {
  CheckBatch(mini_batch);
  batch = &mini_batch;
  training = train;
  for (auto& [s, stage] : local) stage.worker.ResetLoss();
  for (const Action& action : schedule.ranks[transport.rank()]) {
    if (!Skips(action)) Do(action);
  }
  Flush();
  StepResult result;
  if (LocalStage* last = Local(schedule.num_stages - 1)) result.loss = last->worker.loss();
  return result;
}

// The sends of the step must have been taken before their buffers are used again.
void Executor::State::Flush() {
  for (auto& [s, stage] : local) {
    try {
      stage.Flush(totals);
    } catch (...) {
      RethrowWithContext(fmt::format("rank {}, stage {}, step {}, end of the step",
                                     transport.world_rank(), s, batch->step));
    }
  }
}

bool Executor::State::Skips(const Action& action) const {
  const bool forward = IsForward(action.kind) || action.kind == ActionKind::kSendActivation ||
                       action.kind == ActionKind::kRecvActivation;
  if (!training && !forward) return true;
  return action.micro_batch >= 0 && batch->micro_batches[action.micro_batch].samples.empty();
}

void Executor::State::Do(const Action& action) {
  try {
    transport.ThrowIfAborted();
    TickProgress();
    if (options.before_action) options.before_action(action, batch->step);
    Dispatch(action, local.at(action.stage));
  } catch (...) {
    RethrowWithContext(PlaceOf(action, transport.world_rank(), batch->step));
  }
}

void Executor::State::Dispatch(const Action& action, LocalStage& stage) {
  const int m = action.micro_batch;
  switch (action.kind) {
    case ActionKind::kForward:
      return Timed(action, "forward", totals.forward, [&] { Forward(action, stage); });
    case ActionKind::kBackward:
      return Timed(action, "backward", totals.backward, [&] {
        KeepInputGrads(action, stage,
                       stage.worker.Backward(m, std::exchange(stage.output_grads[m], {})));
      });
    case ActionKind::kBackwardInput:
      return Timed(action, "backward", totals.backward, [&] {
        KeepInputGrads(action, stage,
                       stage.worker.BackwardInput(m, std::exchange(stage.output_grads[m], {})));
      });
    case ActionKind::kBackwardWeight:
      return Timed(action, "backward", totals.backward, [&] { stage.worker.BackwardWeight(m); });
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
      return Transfer(action, stage);
    case ActionKind::kReduce:
      return Timed(action, "reduce", totals.reduce, [&] {
        if (options.on_reduce) options.on_reduce(action.stage, batch->step);
      });
    case ActionKind::kStep:
      return Timed(action, "optimizer", totals.optimizer, [&] { Step(action, stage); });
  }
}

template <class F>
void Executor::State::Timed(const Action& action, const char* category, double& total, const F& f) {
  const int64_t begin = trace::Now();
  f();
  const int64_t end = trace::Now();
  total += Seconds(end - begin);
  if (!trace::Enabled()) return;
  trace::Record({.name = ShortName(action),
                 .category = category,
                 .begin_ns = begin,
                 .end_ns = end,
                 .step = batch->step,
                 .micro_batch = action.micro_batch});
}

StepContext Executor::State::ContextOf(int m) const {
  StepContext context;
  context.seed = batch->seed;
  context.step = batch->step;
  context.micro_batch = m;
  context.training = training;
  context.samples = batch->micro_batches[m].samples;
  return context;
}

void Executor::State::Forward(const Action& action, LocalStage& stage) {
  const int m = action.micro_batch;
  const MicroBatch& micro_batch = batch->micro_batches[m];
  StageWorker::Target target;
  target.weight =
      static_cast<double>(micro_batch.samples.size()) / static_cast<double>(batch->global_samples);
  if (IsLast(action.stage)) target.tensors = micro_batch.targets;
  Tensors inputs = action.stage == 0 ? micro_batch.inputs : std::exchange(stage.inputs[m], {});
  Tensors outputs = stage.worker.Forward(std::move(inputs), target, ContextOf(m));
  LocalStage* next = Local(action.stage + 1);
  (next != nullptr ? next->inputs[m] : stage.outputs[m]) = std::move(outputs);
}

void Executor::State::KeepInputGrads(const Action& action, LocalStage& stage, Tensors grads) {
  LocalStage* previous = Local(action.stage - 1);
  auto& place = previous != nullptr ? previous->output_grads : stage.input_grads;
  if (action.stage > 0) place[action.micro_batch] = std::move(grads);
}

// Waits come first and are shown as idle; what remains is encoding, copying and decoding.
void Executor::State::Transfer(const Action& action, LocalStage& stage) {
  const int m = action.micro_batch;
  const std::string what = MessageOf(action, batch->step);
  const double idle_before = totals.idle;
  const int64_t begin = trace::Now();
  switch (action.kind) {
    case ActionKind::kSendActivation:
      stage.activation_out->Send(m, std::exchange(stage.outputs[m], {}), what, totals);
      break;
    case ActionKind::kRecvActivation:
      stage.inputs[m] = stage.activation_in->Recv(m, what, totals);
      break;
    case ActionKind::kSendGradient:
      stage.gradient_out->Send(m, std::exchange(stage.input_grads[m], {}), what, totals);
      break;
    default:
      stage.output_grads[m] = stage.gradient_in->Recv(m, what, totals);
  }
  if (!trace::Enabled()) return;
  const int64_t moved = begin + static_cast<int64_t>((totals.idle - idle_before) * 1e9);
  const std::string name = ShortName(action);
  if (moved > begin) {
    trace::Record({.name = "wait " + name,
                   .category = "idle",
                   .begin_ns = begin,
                   .end_ns = moved,
                   .step = batch->step,
                   .micro_batch = m});
  }
  trace::Record({.name = name,
                 .category = "transfer",
                 .begin_ns = moved,
                 .end_ns = trace::Now(),
                 .step = batch->step,
                 .micro_batch = m});
}

void Executor::State::Step(const Action& action, LocalStage& stage) {
  if (options.on_step) options.on_step(action.stage, batch->step);
  stage.worker.stage().EndMiniBatch();
}

// ---- the public face ----

Executor::Executor(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
                   ExecutorOptions options)
    : state_(std::make_unique<State>(transport, std::move(schedule), std::move(stages),
                                     std::move(options))) {}

Executor::~Executor() = default;

void Executor::AgreeOnShapes(const std::vector<TensorSpec>& inputs) {
  state_->AgreeOnShapes(inputs);
}

StepResult Executor::Train(const MiniBatch& batch) { return state_->Run(batch, true); }

StepResult Executor::Evaluate(const MiniBatch& batch) { return state_->Run(batch, false); }

const RankTotals& Executor::totals() const { return state_->totals; }

std::vector<CutTraffic> Executor::traffic() const {
  std::vector<CutTraffic> all;
  for (const auto& [s, stage] : state_->local) {
    const auto add = [&](const std::optional<TensorLink>& link, int cut, bool forward) {
      if (link) all.push_back({cut, forward, link->peer(), link->raw_bytes(), link->sent_bytes()});
    };
    add(stage.activation_out, s + 1, true);
    add(stage.gradient_out, s, false);
  }
  return all;
}

}  // namespace torus::parallel
