#include "parallel/trainer/rank_trainer.h"

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "parallel/data_parallel/gather_tensors.h"
#include "parallel/pipeline/add_context.h"
#include "parallel/trainer/bytes.h"
#include "parallel/trainer/joint_save.h"
#include "parallel/trainer/run_facts.h"
#include "parallel/trainer/run_schedule.h"
#include "parallel/trainer/shared_folder.h"
#include "parallel/trainer/statistics_exchange.h"
#include "parallel/trainer/totals_builder.h"
#include "runtime/binary_counter.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

double SecondsNow() { return static_cast<double>(trace::Now()) * 1e-9; }

// Adds the seconds between its construction and destruction to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), begin_(SecondsNow()) {}
  ~Stopwatch() { total_ += SecondsNow() - begin_; }

 private:
  double& total_;
  double begin_;
};

// Switches tracing off at the end, also when an error is thrown.
struct TraceGuard {
  ~TraceGuard() { trace::Enable(false); }
};

std::map<int, Stage*> Pointers(std::map<int, Stage>& stages) {
  std::map<int, Stage*> pointers;
  for (auto& [number, stage] : stages) pointers[number] = &stage;
  return pointers;
}

std::unique_ptr<Transport> Wrap(const TrainerOptions& options, Transport& world) {
  return options.wrap_transport ? options.wrap_transport(world) : nullptr;
}

RankPlace PlaceOf(const WorldLayout& layout, const Transport& world) {
  Require(layout.size() == world.size(), "trainer", "{} replicas of {} ranks need {}, there are {}",
          layout.replicas(), layout.size() / layout.replicas(), layout.size(), world.size());
  return layout.place(world.rank());
}

TrainerOptions& Checked(TrainerOptions& options, const TrainingParts& parts) {
  CheckRun(options, parts);
  return options;
}

uint64_t BytesOf(const std::vector<NamedTensor>& tensors) {
  uint64_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.value.bytes();
  return bytes;
}

// Of the global mini-batch's samples.
double ShareOf(const MiniBatch& batch) {
  size_t samples = 0;
  for (const MicroBatch& part : batch.micro_batches) samples += part.samples.size();
  return static_cast<double>(samples) / static_cast<double>(batch.global_samples);
}

NextStep Decide(int64_t step, int64_t end, const TrainHooks& hooks) {
  NextStep next;
  if (step >= end || (hooks.stop && hooks.stop())) return next;
  next.run = 1;
  if (hooks.trace) next.trace = hooks.trace(step) ? NextStep::kOn : NextStep::kOff;
  return next;
}

}  // namespace

RankTrainer::RankTrainer(Transport& world, TrainerOptions options, TrainingParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      schedule_(RunScheduleOf(Checked(options_, parts_), parts_)),
      layout_(schedule_, options_.replicas),
      wrapped_(Wrap(options_, world)),
      world_(wrapped_ ? *wrapped_ : world),
      place_(PlaceOf(layout_, world_)),
      pipeline_(world_, layout_.PipelineOf(place_.replica)),
      replicas_(world_, layout_.ReplicasOf(place_.pipeline_rank)),
      control_(world_),
      replica_control_(replicas_),
      agreement_(control_, layout_),
      model_(MakeRankModel(options_, parts_, place_.stages)),
      update_({pipeline_, replicas_, agreement_}, place_, model_, StageOwners(schedule_), options_,
              parts_),
      executor_(std::make_unique<Executor>(pipeline_, schedule_, Pointers(model_.stages),
                                           MakeExecutorOptions())) {}

ExecutorOptions RankTrainer::MakeExecutorOptions() {
  ExecutorOptions options;
  options.loss = [this](const auto& outputs, const auto& targets) {
    return Loss(outputs, targets);
  };
  options.skips = model_.skips;
  if (options_.codec) {
    options.activation_codec = options_.codec();
    options.gradient_codec = options_.codec();
    codec_ = options.activation_codec->name();
    options.encodes_beside = options_.encodes_beside.value_or(HasCoreToSpare());
  }
  if (options_.reproducible)
    options.on_accumulated = [this](int stage, int micro_batch) {
      update_.Accumulated(stage, micro_batch);
    };
  options.on_last_backward = [this](int stage, int64_t step) {
    update_.BeginLastBackward(stage, step);
  };
  if (SyncsBatchNorm())
    options.gather_replicas = [this](const Tensor& own, const std::string& what) {
      return GatherTensors(replicas_, own, what);
    };
  options.on_reduce = [this](int stage, int64_t step) {
    const double waited = agreement_.waited();
    update_.Reduce(stage, step, {executor_->finite(), executor_->loss(), share_});
    return agreement_.waited() - waited;
  };
  options.on_step = [this](int stage, int64_t step) { return Step(stage, step); };
  options.on_gather = [this](int stage, int64_t step) { update_.GatherWeights(stage, step); };
  options.on_free = [this](int stage, int64_t) { update_.FreeWeights(stage); };
  options.before_action = [this](const Action& action, int64_t step) {
    update_.Advance();
    if (options_.before_action) options_.before_action(place_, action, step);
  };
  return options;
}

// Whether it was taken. Statistics of all replicas' micro-batches make the running ones, where
// these may not depend on the replicas.
bool RankTrainer::Step(int stage, int64_t step) {
  const bool taken = update_.Step(stage, step, learning_rate_);
  if (taken && options_.reproducible && layout_.replicas() > 1)
    model_.stages.at(stage).ShareStatistics([this](const KeptStatistics& own) {
      return ExchangeStatistics(replica_control_, own, micro_batches_);
    });
  return taken;
}

Variable RankTrainer::Loss(const std::vector<Variable>& outputs,
                           const std::vector<Tensor>& targets) {
  if (scoring_ && parts_.correct) score_.correct += parts_.correct(outputs, targets);
  return parts_.loss(outputs, targets);
}

void RankTrainer::RethrowWithReplica() const {
  if (layout_.replicas() == 1) throw;
  RethrowWithContext(fmt::format("replica {}", place_.replica));
}

bool RankTrainer::HasCoreToSpare() const {
  const size_t ranks = world_.SameHost().size();
  const size_t busy = std::max(ranks, static_cast<size_t>(options_.threads));
  return std::thread::hardware_concurrency() >= busy + ranks;
}

void RankTrainer::UseOwnThreads() const {
  const std::vector<int> sharers = world_.SameHost();
  const auto place = std::ranges::find(sharers, world_.rank()) - sharers.begin();
  SetTeamSize(
      ThreadShare(options_.threads, static_cast<int>(sharers.size()), static_cast<int>(place)));
}

void RankTrainer::Prepare() {
  UseOwnThreads();
  RequireEqualFacts(control_, FactsOf(options_, parts_, schedule_, model_, codec_));
  executor_->AgreeOnShapes(parts_.largest_inputs);
  CheckSmallest();
  update_.BroadcastState();
  const RankCounts now = Counts();
  AddTotals(now.Since(now));
}

void RankTrainer::CheckSmallest() try {
  if (!parts_.smallest_inputs.empty()) executor_->CheckSmallest(parts_.smallest_inputs);
} catch (const BadInput& error) {
  if (parts_.smallest_advice.empty()) throw;
  throw BadInput(fmt::format("{}; {}", error.what(), parts_.smallest_advice));
}

MiniBatch RankTrainer::Fetch(const BatchFn& batches, int64_t step) try {
  const Stopwatch watch(data_wait_);
  const trace::Scope scope("data", "data", step);
  MiniBatch batch = batches(step, place_);
  batch.seed = options_.seed;
  batch.step = step;
  return batch;
} catch (...) {
  RethrowWithContext(fmt::format("rank {}, step {}, data", place_.rank, step));
}

void RankTrainer::Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks) {
  UseOwnThreads();
  RunSteps(end, batches, hooks);
  CheckSkipped();
}

void RankTrainer::RunSteps(int64_t end, const BatchFn& batches, const TrainHooks& hooks) try {
  const TraceGuard guard;
  const RankCounts before = Counts();
  step_ended_ = SecondsNow();
  agreement_.Begin(step_, [&](int64_t step) { return Decide(step, end, hooks); });
  while (agreement_.next().run != 0 && skipped_ < options_.max_skipped) {
    const Stopwatch watch(wall_);
    const MiniBatch batch = BeginStep(batches);
    executor_->Run(batch, RunMode::kTrain);
    EndStep(batch, hooks);
  }
  RankCounts counts = Counts().Since(before);
  const SquaredDrift drift = update_.Drift();
  counts.drift_distance = drift.distance;
  counts.drift_weights = drift.weights;
  AddTotals(counts);
  // Replica 0's running statistics are the run's (TrainState::weights).
  update_.BroadcastBuffers();
} catch (...) {
  RethrowWithReplica();
}

// Fetches the batch of the next step.
MiniBatch RankTrainer::BeginStep(const BatchFn& batches) {
  const NextStep& next = agreement_.next();
  if (next.trace != NextStep::kAsItIs) trace::Enable(next.trace == NextStep::kOn);
  learning_rate_ = parts_.learning_rate(step_);
  MiniBatch batch = Fetch(batches, step_);
  share_ = ShareOf(batch);
  micro_batches_ = static_cast<int>(batch.micro_batches.size());
  CheckList();
  if (SyncsBatchNorm()) CheckSamples(batch);
  return batch;
}

// Only then are a replica's micro-batches a node of the tree over all.
void RankTrainer::CheckList() const {
  Require(!options_.reproducible || layout_.replicas() == 1 ||
              std::has_single_bit(static_cast<unsigned>(micro_batches_)),
          "trainer", "reproducible needs 1, 2, 4, 8, ... micro-batches of each replica, got {}",
          micro_batches_);
}

bool RankTrainer::SyncsBatchNorm() const {
  return options_.sync_batch_norm && layout_.replicas() > 1;
}

// A replica that skips a micro-batch would be waited for in vain. All come to the same error.
void RankTrainer::CheckSamples(const MiniBatch& batch) {
  std::vector<std::byte> own;  // of each micro-batch, whether it has any
  for (const MicroBatch& part : batch.micro_batches)
    own.push_back(std::byte{!part.samples.empty()});
  const auto all = replica_control_.AllGather(own, "which micro-batches have samples");
  for (size_t i = own.size(); i < all.size(); ++i) {
    const size_t replica = i / own.size(), m = i % own.size();
    const bool first = all[m] != std::byte{0};
    Require(all[i] == all[m], "trainer",
            "sync_batch_norm needs samples of all replicas or of none in each micro-batch; in step "
            "{}, micro-batch {} has some on replica {} and none on replica {}",
            batch.step, m, first ? 0 : replica, first ? replica : 0);
  }
}

void RankTrainer::EndStep(const MiniBatch& batch, const TrainHooks& hooks) {
  const bool skipped = agreement_.skipped();
  const double now = SecondsNow(), seconds = now - std::exchange(step_ended_, now);
  skipped_ = skipped ? skipped_ + 1 : 0;
  totals_.steps += 1;
  totals_.samples += batch.global_samples;
  totals_.skipped_steps += skipped ? 1 : 0;
  totals_.seconds += seconds;
  const int64_t step = step_++;
  if (place_.rank == 0 && hooks.on_step)
    hooks.on_step(
        {step, agreement_.loss(), batch.global_samples, skipped, learning_rate_, seconds});
}

// Counts from 0 again, so that an application may go on, with a smaller rate for example.
void RankTrainer::CheckSkipped() {
  if (skipped_ < options_.max_skipped) return;
  Throw<TooManySkipped>("trainer",
                        "gave up after {} steps in a row, {} to {}, whose loss or gradients were "
                        "not finite; they changed nothing",
                        std::exchange(skipped_, 0), step_ - options_.max_skipped, step_ - 1);
}

EvaluationResult RankTrainer::Evaluate(int64_t count, const BatchFn& batches,
                                       const std::function<bool()>& stop) try {
  UseOwnThreads();
  EvaluationResult result;
  score_ = {};
  scoring_ = true;
  update_.SwapAverages();
  int64_t step = 0;
  std::vector<int64_t> samples;  // of each batch
  const auto goes_on = [&] {
    const bool more = place_.rank != 0 || (step < count && !(stop && stop()));
    return control_.Announce(more ? 1 : 0, fmt::format("whether there is a batch {}", step)) != 0;
  };
  for (; goes_on(); ++step) {
    const MiniBatch batch = Fetch(batches, step);
    score_.losses.push_back(executor_->Run(batch, RunMode::kEvaluate).loss);
    samples.push_back(batch.global_samples);
  }
  update_.SwapAverages();
  scoring_ = false;
  result.finished = step == count;
  SumScores(samples, result);
  return result;
} catch (...) {
  RethrowWithReplica();
}

// Each batch's loss as a step's: so it depends on the list of micro-batches alone.
void RankTrainer::SumScores(const std::vector<int64_t>& samples, EvaluationResult& result) {
  std::vector<std::vector<double>> losses(samples.size());
  const auto all =
      control_.ShareBytes(std::as_bytes(std::span(score_.losses)), "losses of an evaluation");
  for (const RankPlace& place : layout_.places()) {
    if (!place.last) continue;
    ByteReader reader(all[place.rank]);
    for (std::vector<double>& of_batch : losses) of_batch.push_back(reader.Get<double>());
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    result.loss += TreeSum(losses[i]) * static_cast<double>(samples[i]);
    result.samples += samples[i];
  }
  if (result.samples > 0) result.loss /= static_cast<double>(result.samples);
  for (const int64_t correct : control_.Share(score_.correct, "scores of an evaluation"))
    result.correct += correct;
}

RankCounts RankTrainer::Counts() const {
  RankCounts counts{.times = executor_->totals(),
                    .data_wait = data_wait_,
                    .wall = wall_,
                    .cuts = executor_->traffic()};
  const std::vector<int> ranks = layout_.PipelineOf(place_.replica);
  for (CutTraffic& cut : counts.cuts) cut.peer = ranks[cut.peer];
  for (int peer = 0; peer < world_.size(); ++peer)
    counts.reduced_bytes.push_back(world_.BytesSent(peer, TagClass::kCollective));
  counts.peak_bytes = update_.peak_bytes();
  for (const auto& [number, state] : update_.States()) {
    counts.weights_bytes += state.replicas->WeightBytes() + BytesOf(state.stage->Buffers());
    counts.optimizer_bytes += BytesOf(state.optimizer->State());
  }
  return counts;
}

void RankTrainer::AddTotals(const RankCounts& segment) {
  const auto all = control_.Gather(ToBytes(segment), "counts of a rank");
  if (place_.rank != 0) AddSegment(place_, segment, totals_);
  for (size_t rank = 0; rank < all.size(); ++rank)
    AddSegment(layout_.place(static_cast<int>(rank)), CountsFrom(all[rank]), totals_);
  totals_.bubble = MeasureBubble(schedule_, totals_.ranks);
}

std::vector<StageState> RankTrainer::OwnStages() const {
  std::vector<StageState> stages;
  for (const auto& [number, state] : update_.States()) stages.push_back(state);
  return stages;
}

std::map<int, StageTensors> RankTrainer::OwnTensors() const {
  std::map<int, StageTensors> tensors;
  for (const auto& [number, state] : update_.States()) {
    const auto owns = [this, stage = number](const std::string& parameter) {
      return model_.table.entries()[model_.table.IndexOf(parameter)].stages.front() == stage;
    };
    tensors[number] = TensorsOf(state, owns, fmt::format("state of stage {}", number));
  }
  return tensors;
}

std::exception_ptr RankTrainer::Save(const std::string& folder,
                                     const std::map<std::string, std::string>& texts) {
  std::map<int, StageTensors> own = OwnTensors();
  if (place_.replica != 0) own.clear();
  return SaveTogether(control_, folder, step_, own, texts);
}

std::exception_ptr RankTrainer::CheckSharedFolder(const std::string& folder) {
  return parallel::CheckSharedFolder(control_, folder);
}

void RankTrainer::SetWeights(const TensorSource& weights) {
  CopyWeights(weights, model_.weights, OwnStages());
  skipped_ = 0;
}

void RankTrainer::SetState(const StateSource& state) {
  SetWeights(state.weights);
  CopyOptimizer(state.optimizer, model_.weights, OwnStages());
  CopyAverages(state.averages, OwnStages());
  step_ = state.step;
}

}  // namespace torus::parallel
