#include "parallel/pipeline/executor.h"

#include <algorithm>
#include <utility>

#include "parallel/pipeline/action_text.h"
#include "parallel/pipeline/add_context.h"
#include "parallel/pipeline/shape_agreement.h"
#include "parallel/schedule/printer.h"
#include "runtime/error.h"
#include "runtime/progress.h"
#include "runtime/stream.h"
#include "runtime/trace.h"

namespace torus::parallel {

namespace {

// Whether actions[i], a gather or free, belongs to a forward: the compute action after a gather or
// before a free.
bool GathersForForward(const std::vector<Action>& actions, size_t i) {
  const int way = actions[i].kind == ActionKind::kGather ? 1 : -1;
  for (size_t at = i; at < actions.size(); at += way)
    if (actions[at].stage == actions[i].stage && IsCompute(actions[at].kind))
      return IsForward(actions[at].kind);
  return false;
}

// Whether the action completes the stage's weight gradients of a micro-batch.
bool Accumulates(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kBackwardWeight;
}

// Whether the action uses and produces tensors of skip connections, or their gradients.
bool MovesSkips(ActionKind kind) { return IsCompute(kind) && kind != ActionKind::kBackwardWeight; }

std::vector<char> OfForward(const std::vector<Action>& actions) {
  std::vector<char> of_forward;
  for (size_t i = 0; i < actions.size(); ++i) {
    const ActionKind kind = actions[i].kind;
    of_forward.push_back(IsOfWeights(kind)
                             ? GathersForForward(actions, i)
                             : IsForward(kind) || kind == ActionKind::kSendActivation ||
                                   kind == ActionKind::kRecvActivation);
  }
  return of_forward;
}

}  // namespace

Executor::Executor(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
                   ExecutorOptions options)
    : transport_(transport),
      schedule_(std::move(schedule)),
      options_(std::move(options)),
      owners_(StageOwners(schedule_)),
      of_forward_(OfForward(schedule_.ranks.at(transport.rank()))) {
  CheckStages(stages);
  if (options_.encodes_beside) encoder_.emplace();
  for (const auto& [s, stage] : stages) {
    skips_[s] = {SkipsNamed(s, stage->takes(), true), SkipsNamed(s, stage->stashes(), false)};
    stages_.try_emplace(s, *stage, s, IsLast(s) ? &options_.loss : nullptr,
                        schedule_.num_micro_batches);
  }
  if (options_.device.kind == DeviceKind::kCuda) checks_.emplace(options_.device);
  if (options_.graphs != CudaGraphs::kOff) MakeGraph();
}

std::vector<size_t> Executor::SkipsNamed(int stage, const std::vector<std::string>& names,
                                         bool taken) const {
  std::vector<size_t> found;
  for (const std::string& name : names) {
    const auto at = std::ranges::find_if(options_.skips, [&](const SkipConnection& skip) {
      return skip.name == name && (taken ? skip.to : skip.from) == stage;
    });
    Require(at != options_.skips.end(), "pipeline", "stage {} {} {}, which is none of {} skips",
            stage, taken ? "takes" : "stashes", name, options_.skips.size());
    found.push_back(at - options_.skips.begin());
  }
  return found;
}

void Executor::CheckStages(const std::map<int, Stage*>& stages) const {
  Require(transport_.size() == schedule_.num_ranks, "pipeline",
          "schedule {} is for {} ranks, the transport has {}", schedule_.name, schedule_.num_ranks,
          transport_.size());
  for (int s = 0; s < schedule_.num_stages; ++s) {
    const auto it = stages.find(s);
    const bool here = it != stages.end() && it->second != nullptr;
    Require(here == (owners_[s] == transport_.rank()), "pipeline",
            "stage {} belongs to rank {}; rank {} was {} it", s, owners_[s], transport_.rank(),
            here ? "given" : "not given");
    Require(!here || !IsLast(s) || options_.loss, "pipeline",
            "rank {} runs the last stage and needs a loss", transport_.rank());
  }
  Require(stages.empty() || stages.rbegin()->first < schedule_.num_stages, "pipeline",
          "there is no stage {} of {}", stages.empty() ? 0 : stages.rbegin()->first,
          schedule_.num_stages);
}

StageRunner::Neighbour Executor::NeighbourAt(int stage) {
  if (stage < 0 || stage >= schedule_.num_stages) return {};
  const auto here = stages_.find(stage);
  if (here != stages_.end()) return {.here = &here->second};
  return {.rank = owners_[stage]};
}

std::string Executor::PlaceBefore(int stage) const {
  const auto cut = static_cast<size_t>(stage) - 1;
  if (stage >= 1 && cut < options_.cuts.size())
    return fmt::format("before block {}", options_.cuts[cut]);
  return fmt::format("before stage {}", stage);
}

void Executor::Connect(int stage, SpecExchange& specs) {
  stages_.at(stage).Connect(
      {&transport_, NeighbourAt(stage - 1), NeighbourAt(stage + 1), CodecsAt(stage),
       CodecsAt(stage + 1), PlaceBefore(stage), PlaceBefore(stage + 1),
       encoder_ ? &*encoder_ : nullptr, options_.device, options_.codec_warmup,
       options_.codec_folder, options_.tensor_group.sharers},
      specs.InputsOf(stage), specs.OutputsOf(stage));
  ConnectSkips(stage, specs);
}

void Executor::ConnectSkips(int stage, const SpecExchange& specs) {
  StageSkips& skips = stages_.at(stage).skips();
  for (const size_t i : skips_.at(stage).taken)
    skips.ConnectTaken(RouteOf(i, true), specs.OfSkip(i));
  for (const size_t i : skips_.at(stage).stashed)
    skips.ConnectStashed(RouteOf(i, false), specs.OfSkip(i));
}

StageSkips::Route Executor::RouteOf(size_t i, bool taken) {
  const SkipConnection& skip = options_.skips[i];
  const int other = taken ? skip.from : skip.to;
  StageSkips::Route route{
      .number = schedule_.num_stages + static_cast<int>(i),
      .place = "skip " + skip.name,
      .name = fmt::format("skip {} between stages {} and {}", skip.name, skip.from, skip.to),
      .transport = &transport_,
      .codecs = CodecsAt(skip.to),
      .encoder = encoder_ ? &*encoder_ : nullptr,
      .device = options_.device,
      .warmup = options_.codec_warmup,
      .samples_folder = options_.codec_folder,
      .sharers = options_.tensor_group.sharers};
  const auto here = stages_.find(other);
  if (here == stages_.end()) {
    route.rank = owners_[other];
    return route;
  }
  const std::vector<size_t>& there = taken ? skips_.at(other).stashed : skips_.at(other).taken;
  route.here = &here->second.skips();
  route.index = std::ranges::find(there, i) - there.begin();
  return route;
}

// The last stage's outputs are not sent; its forward runs only to check that it accepts the
// smallest micro-batch.
void Executor::PassSpecs(const std::vector<TensorSpec>& inputs, bool smallest) {
  SpecExchange specs(transport_, owners_, options_.skips);
  for (auto& [s, runner] : stages_) try {
      const std::vector<TensorSpec> in = specs.Inputs(s, skips_.at(s).taken, inputs);
      if (smallest || !IsLast(s))
        specs.SetOutputs(s, skips_.at(s).stashed,
                         OutputSpecs(runner.stage(), in,
                                     {.training = smallest,
                                      .gather_replicas = smallest ? GatherFor(s, 0) : nullptr,
                                      .tensor_ranks = TensorRanksFor(s, 0)}));
      if (!smallest) Connect(s, specs);
    } catch (...) {
      RethrowWithContext(fmt::format("rank {}, stage {}, before step 0{}", transport_.world_rank(),
                                     s, smallest ? ", smallest micro-batch" : ""));
    }
  specs.Wait();
}

void Executor::AgreeOnShapes(const std::vector<TensorSpec>& inputs) {
  PassSpecs(inputs, false);
  agreed_ = true;
}

void Executor::CheckSmallest(const std::vector<TensorSpec>& inputs) { PassSpecs(inputs, true); }

void Executor::CheckBatch(const MiniBatch& batch) const {
  const auto count = static_cast<int>(batch.micro_batches.size());
  Require(agreed_, "pipeline", "AgreeOnShapes comes before the first step");
  Require(count > 0 && count % schedule_.num_micro_batches == 0, "pipeline",
          "schedule {} has {} micro-batches and takes a multiple of them, step {} brings {}",
          schedule_.name, schedule_.num_micro_batches, batch.step, count);
  Require(batch.global_samples > 0, "pipeline", "step {} has no samples", batch.step);
}

// Jobs of the encoder thread read the batch, which its owner may destroy after an error.
StepResult Executor::Run(const MiniBatch& batch, RunMode mode) try {
  return RunActions(batch, mode);
} catch (...) {
  if (encoder_) encoder_->Drop();
  throw;
}

StepResult Executor::RunActions(const MiniBatch& batch, RunMode mode) {
  CheckBatch(batch);
  batch_ = &batch;
  training_ = mode == RunMode::kTrain;
  std::optional<DeferredChecks::Scope> later;
  if (checks_) checks_->Clear();
  if (checks_ && training_) later.emplace(*checks_);
  for (auto& [s, stage] : stages_) stage.Begin();
  clock_.BeginStep();
  ListActions();
  const bool as_graph = graph_ && training_;
  RenewLowCopies();
  for (size_t i = as_graph ? ComputeAsGraph() : 0; i < actions_.size(); ++i) {
    CheckSent(false);
    Do(actions_[i]);
  }
  Flush();
  CheckArrived();
  CheckValues();
  return {.loss = loss()};
}

void Executor::ListActions() {
  actions_.clear();
  next_receive_ = 0;
  const std::vector<Action>& own = schedule_.ranks[transport_.rank()];
  const int all = static_cast<int>(batch_->micro_batches.size());
  for (int first = 0; first < all; first += schedule_.num_micro_batches)
    for (size_t i = 0; i < own.size(); ++i) {
      Action action = own[i];
      if (action.micro_batch >= 0) action.micro_batch += first;
      if (!Skips(action, of_forward_[i] != 0, first + schedule_.num_micro_batches >= all))
        actions_.push_back(action);
    }
  if (graph_ && training_) ComputeFirst();
  last_backward_.clear();
  for (const Action& action : actions_)
    if (Accumulates(action.kind)) last_backward_[action.stage] = &action;
}

// The stages have slots for one round of micro-batches.
size_t Executor::SlotOf(const Action& action) const {
  return static_cast<size_t>(action.micro_batch % schedule_.num_micro_batches);
}

// Receives are started ahead of their turn, in order, so that messages arrive while this rank
// computes.
void Executor::ExpectNext() {
  for (auto& [s, stage] : stages_) stage.Advance();
  for (; next_receive_ < actions_.size(); ++next_receive_) {
    if (!StartReceive(actions_[next_receive_])) return;
  }
}

bool Executor::StartReceive(const Action& action) {
  StageRunner& stage = stages_.at(action.stage);
  if (IsRecv(action.kind))
    return stage.Expect(action.kind, SlotOf(action), MessageOf(action, batch_->step));
  if (stage.skips().empty() || !MovesSkips(action.kind)) return true;
  return stage.skips().Expect(action.kind, SlotOf(action), InStep(action, batch_->step));
}

// Receives what the stage takes before the action, or sends what it stashes after it.
void Executor::MoveSkips(const Action& action, bool receive) {
  StageSkips& skips = stages_.at(action.stage).skips();
  if (skips.empty() || !MovesSkips(action.kind)) return;
  const ActionClock::Mark begin = clock_.Begin();
  const std::string what = InStep(action, batch_->step);
  if (receive)
    skips.Receive(action.kind, SlotOf(action), what, clock_.totals(), WhenOf(action));
  else
    skips.Send(action.kind, SlotOf(action), what, clock_.totals(), WhenOf(action));
  clock_.EndTransfer("skips", batch_->step, action.micro_batch, begin);
}

// A replica without samples still takes part in gathering weights.
bool Executor::Skips(const Action& action, bool of_forward, bool last_round) const {
  if (!training_ && !of_forward) return true;
  if (action.micro_batch < 0) return !last_round;
  if (IsOfWeights(action.kind)) return false;
  return batch_->micro_batches[action.micro_batch].samples.empty();
}

void Executor::Do(const Action& action) try {
  transport_.ThrowIfAborted();
  TickProgress();
  SayActivity(Words(action.kind), batch_->step, action.stage, action.micro_batch);
  ExpectNext();
  if (options_.before_action) options_.before_action(action, batch_->step);
  StageRunner& stage = stages_.at(action.stage);
  const int m = action.micro_batch;
  const size_t slot = m < 0 ? 0 : SlotOf(action);
  MoveSkips(action, true);
  if (action.kind == ActionKind::kReduce) MakeSureOfGraph();
  const ActionClock::Mark begin = clock_.Begin();
  switch (action.kind) {
    case ActionKind::kForward: {
      const StepContext context = ContextOf(action);
      const double weight =
          static_cast<double>(context.samples.size()) / static_cast<double>(batch_->global_samples);
      stage.Forward(slot, batch_->micro_batches[m], {weight, batch_->loss_scale}, context);
      break;
    }
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
      BeginLastBackward(action);
      stage.Backward(slot, action.kind == ActionKind::kBackwardInput);
      if (action.kind == ActionKind::kBackward) Accumulated(action);
      break;
    case ActionKind::kBackwardWeight:
      BeginLastBackward(action);
      stage.BackwardWeight(slot);
      Accumulated(action);
      break;
    case ActionKind::kReduce:
      if (options_.on_reduce) clock_.AddWait(options_.on_reduce(action.stage, batch_->step));
      break;
    case ActionKind::kStep:
      EndMiniBatch(action.stage);
      break;
    case ActionKind::kGather:
      if (options_.on_gather) options_.on_gather(action.stage, batch_->step);
      break;
    case ActionKind::kFree:
      if (options_.on_free) options_.on_free(action.stage, batch_->step);
      break;
    default:
      stage.Transfer(action.kind, slot, MessageOf(action, batch_->step), clock_.totals(),
                     WhenOf(action));
  }
  if (options_.times_gpu_work) WaitForWork(options_.device);
  clock_.End(action, batch_->step, begin);
  MoveSkips(action, false);
} catch (...) {
  CheckSent(true);  // an error of the encoder thread may have caused this one
  RethrowWithContext(PlaceOf(action, transport_.world_rank(), batch_->step));
}

void Executor::CheckSent(bool wait) {
  for (auto& [s, stage] : stages_) try {
      stage.CheckSent(wait);
    } catch (...) {
      RethrowWithContext(fmt::format("rank {}, stage {}", transport_.world_rank(), s));
    }
}

void Executor::BeginLastBackward(const Action& action) const {
  if (options_.on_last_backward && last_backward_.at(action.stage) == &action)
    options_.on_last_backward(action.stage, batch_->step);
}

void Executor::Accumulated(const Action& action) const {
  if (options_.on_accumulated) options_.on_accumulated(action.stage, action.micro_batch);
}

void Executor::EndMiniBatch(int stage) {
  const bool taken = !options_.on_step || options_.on_step(stage, batch_->step);
  stages_.at(stage).stage().EndMiniBatch(taken);
}

bool Executor::finite() const {
  return std::ranges::all_of(stages_, [](const auto& stage) { return stage.second.finite(); });
}

double Executor::loss() const {
  const auto last = stages_.find(schedule_.num_stages - 1);
  return last == stages_.end() ? 0 : last->second.loss();
}

}  // namespace torus::parallel
