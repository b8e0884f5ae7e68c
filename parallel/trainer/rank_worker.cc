#include "parallel/trainer/rank_worker.h"

#include <algorithm>
#include <cmath>

#include "parallel/collectives/any_rank.h"
#include "parallel/optim/finite_gradients.h"
#include "parallel/optim/gradient_norm.h"
#include "parallel/pipeline/add_context.h"
#include "parallel/trainer/clipping.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

// Adds the seconds between its construction and destruction to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), begin_(trace::Now()) {}
  ~Stopwatch() { total_ += static_cast<double>(trace::Now() - begin_) * 1e-9; }

 private:
  double& total_;
  int64_t begin_;
};

std::shared_ptr<Codec> NewCodec(const TrainerOptions& options) {
  return options.codec ? std::shared_ptr<Codec>(options.codec()) : nullptr;
}

std::map<int, Stage*> Pointers(std::map<int, Stage>& stages) {
  std::map<int, Stage*> pointers;
  for (auto& [number, stage] : stages) pointers[number] = &stage;
  return pointers;
}

}  // namespace

RankWorker::RankWorker(Transport& world, const Run& run, int rank, std::map<int, Stage> stages)
    : world_(world),
      layout_(run.layout),
      place_(run.layout.place(rank)),
      table_(run.table),
      options_(run.options),
      parts_(run.parts),
      pipeline_(world, run.layout.PipelineOf(place_.replica)),
      replicas_(world, run.layout.ReplicasOf(place_.pipeline_rank)),
      stages_(std::move(stages)) {
  for (const auto& [number, stage] : stages_) {
    StageWork& work = work_[number];
    work.parameters = UniqueParameters(stage);
    work.replicas = std::make_unique<DataParallel>(
        replicas_, stage.Parameters(),
        DataParallelOptions{.all_reduce = AllReduceByName(options_.collectives)});
    work.optimizer = parts_.optimizer(work.parameters);
    if (options_.ema_decay > 0)
      work.average = std::make_unique<WeightAverage>(work.parameters, options_.ema_decay);
  }
  tied_ = std::make_unique<TiedGradients>(pipeline_, table_, StageOwners(run.schedule), stages_);
  executor_ =
      std::make_unique<Executor>(pipeline_, run.schedule, Pointers(stages_), MakeExecutorOptions());
}

ExecutorOptions RankWorker::MakeExecutorOptions() {
  ExecutorOptions options;
  options.loss = [this](const auto& outputs, const auto& targets) {
    return Loss(outputs, targets);
  };
  options.activation_codec = NewCodec(options_);
  options.gradient_codec = NewCodec(options_);
  options.on_reduce = [this](int stage, int64_t step) { Reduce(stage, step); };
  options.on_step = [this](int stage, int64_t) { return Step(stage); };
  if (options_.before_action)
    options.before_action = [this](const Action& action, int64_t step) {
      options_.before_action(place_, action, step);
    };
  return options;
}

// Whatever the schedule, all reductions of a rank come before its first step.
void RankWorker::Reduce(int stage, int64_t step) {
  work_.at(stage).replicas->ReduceGradients(fmt::format("step {}, stage {}", step, stage));
  if (++reduced_ < stages_.size()) return;
  reduced_ = 0;
  FinishGradients(step);
}

// The gradient of each use of a tied weight is summed over the replicas before the uses are added:
// one order of sums, whichever stages the uses lie in.
void RankWorker::FinishGradients(int64_t step) {
  const std::string what = fmt::format("step {}", step);
  tied_->Sum(what);
  if (options_.on_gradients)
    for (const auto& [stage, work] : work_) options_.on_gradients(place_, step, work.parameters);
  const bool clips = options_.clip_norm > 0;
  std::vector<double> squares = clips ? OwnSquaredNorms(table_, stages_) : std::vector<double>();
  skip_ = AnyRank(world_, !OwnStepIsFinite(squares), fmt::format("whether {} is finite", what),
                  finite_wait_);
  if (clips && !skip_)
    gradient_scale_ =
        ClipScale(PipelineGradientNorm(pipeline_, std::move(squares), what), options_.clip_norm);
}

// `squares`: those of the clipping norm, which show what is not finite without another pass; empty
// without clipping.
bool RankWorker::OwnStepIsFinite(const std::vector<double>& squares) const {
  if (!executor_->finite()) return false;
  if (options_.clip_norm > 0)
    return std::ranges::all_of(squares, [](double sum) { return std::isfinite(sum); });
  return std::ranges::all_of(
      work_, [](const auto& work) { return GradientsAreFinite(work.second.parameters); });
}

// Whether the step was taken.
bool RankWorker::Step(int stage) {
  StageWork& work = work_.at(stage);
  if (!skip_) work.optimizer->Step(learning_rate_, gradient_scale_);
  if (!skip_ && work.average) work.average->Update();
  for (NamedVariable& parameter : work.parameters) parameter.value.ZeroGrad();
  return !skip_;
}

Variable RankWorker::Loss(const std::vector<Variable>& outputs,
                          const std::vector<Tensor>& targets) {
  if (scoring_ && parts_.correct) score_.correct += parts_.correct(outputs, targets);
  return parts_.loss(outputs, targets);
}

void RankWorker::RethrowWithReplica() const {
  if (layout_.replicas() == 1) throw;
  RethrowWithContext(fmt::format("replica {}", place_.replica));
}

void RankWorker::UseOwnThreads() const {
  SetTeamSize(ThreadShare(options_.threads, layout_.size(), place_.rank));
}

void RankWorker::Prepare() {
  UseOwnThreads();
  executor_->AgreeOnShapes(parts_.largest_inputs);
  CheckSmallest();
  BroadcastState();
}

void RankWorker::CheckSmallest() try {
  if (!parts_.smallest_inputs.empty()) executor_->CheckSmallest(parts_.smallest_inputs);
} catch (const BadInput& error) {
  if (parts_.smallest_advice.empty()) throw;
  throw BadInput(fmt::format("{}; {}", error.what(), parts_.smallest_advice));
}

void RankWorker::BroadcastState() {
  for (auto& [number, work] : work_) work.replicas->BroadcastState(stages_.at(number).Buffers());
}

void RankWorker::BroadcastBuffers() {
  for (auto& [number, work] : work_) work.replicas->BroadcastBuffers(stages_.at(number).Buffers());
}

void RankWorker::SwapAverages() {
  for (auto& [number, work] : work_)
    if (work.average) work.average->Swap();
}

MiniBatch RankWorker::Fetch(const BatchFn& batches, int64_t step) try {
  const Stopwatch watch(data_wait_);
  const trace::Scope scope("data", "data", step);
  MiniBatch batch = batches(step, place_);
  batch.seed = options_.seed;
  batch.step = step;
  return batch;
} catch (...) {
  RethrowWithContext(fmt::format("rank {}, step {}, data", place_.rank, step));
}

void RankWorker::Train(StepBoard& board, const BatchFn& batches, int64_t step) try {
  UseOwnThreads();
  for (; board.Begin(step); ++step) {
    const Stopwatch watch(wall_);
    const MiniBatch batch = Fetch(batches, step);
    learning_rate_ = parts_.learning_rate(step);
    const StepResult result = executor_->Train(batch);
    board.Finish(step, {.replica = place_.replica,
                        .has_loss = place_.last,
                        .loss = result.loss,
                        .samples = batch.global_samples,
                        .skipped = skip_});
  }
} catch (...) {
  RethrowWithReplica();
}

RankScore RankWorker::Evaluate(StepBoard& board, const BatchFn& batches) try {
  UseOwnThreads();
  score_ = {};
  scoring_ = true;
  SwapAverages();
  for (int64_t step = 0; board.Begin(step); ++step) {
    const MiniBatch batch = Fetch(batches, step);
    score_.loss_sum += executor_->Evaluate(batch).loss * static_cast<double>(batch.global_samples);
  }
  SwapAverages();
  scoring_ = false;
  return score_;
} catch (...) {
  RethrowWithReplica();
}

RankCounts RankWorker::counts() const {
  RankCounts counts{.times = executor_->totals(),
                    .data_wait = data_wait_,
                    .wall = wall_,
                    .cuts = executor_->traffic()};
  // This wait is within a reduce, but what it waits for is another stage's backward.
  counts.times.reduce -= finite_wait_;
  counts.times.idle += finite_wait_;
  const std::vector<int> ranks = layout_.PipelineOf(place_.replica);
  for (CutTraffic& cut : counts.cuts) cut.peer = ranks[cut.peer];
  for (int peer = 0; peer < world_.size(); ++peer)
    counts.reduced_bytes.push_back(world_.BytesSent(peer, TagClass::kCollective));
  return counts;
}

}  // namespace torus::parallel
