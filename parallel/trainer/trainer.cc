#include "parallel/trainer/trainer.h"

#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "parallel/schedule/factory.h"
#include "parallel/trainer/parameter_table.h"
#include "parallel/trainer/rank_worker.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/trainer/step_board.h"
#include "parallel/trainer/totals_builder.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

void CheckParts(const TrainingParts& parts) {
  Require(parts.model && parts.loss && parts.optimizer && parts.learning_rate, "trainer",
          "needs a model, a loss, an optimizer and a learning rate");
}

Schedule ScheduleOf(const TrainerOptions& options) {
  Require(options.stages >= 1 && options.chunks >= 1 && options.stages % options.chunks == 0,
          "trainer", "stages must be a multiple of chunks, the stages of each rank; got {} and {}",
          options.stages, options.chunks);
  const PipelineSize size{options.stages / options.chunks, options.micro_batches, options.chunks};
  return options.generator ? MakeSchedule(options.generator, size)
                           : MakeSchedule(options.schedule, size);
}

// The given cuts, or those that balance the blocks' static costs.
Cuts ChooseCuts(const TrainerOptions& options, const std::vector<Block>& blocks) {
  if (options.cuts.empty()) {
    std::vector<double> costs;
    for (const Block& block : blocks) costs.push_back(block.cost);
    return BalanceCuts(costs, options.stages);
  }
  const int stages = static_cast<int>(options.cuts.size()) + 1;
  Require(stages == options.stages, "trainer", "{} cuts make {} stages, but {} were asked for",
          options.cuts.size(), stages, options.stages);
  CheckCuts(options.cuts, static_cast<int>(blocks.size()));
  return options.cuts;
}

}  // namespace

struct Trainer::Impl {
  Impl(TrainerOptions given_options, TrainingParts given_parts)
      : options(std::move(given_options)),
        parts(std::move(given_parts)),
        schedule(ScheduleOf(options)),
        layout(schedule, options.replicas),
        world(layout.size(), {.timeout = options.timeout}) {
    CheckParts(parts);
    Require(options.grace > 0 && options.grace <= kLongestTimeout, "trainer",
            "grace must be above 0 and at most {} seconds, got {}", kLongestTimeout, options.grace);
    Require(options.threads >= 1, "trainer", "threads must be at least 1, got {}", options.threads);
    Require(options.clip_norm >= 0 && std::isfinite(options.clip_norm), "trainer",
            "clip_norm must be at least 0, got {}", options.clip_norm);
    Require(options.max_skipped >= 1, "trainer", "max_skipped must be at least 1, got {}",
            options.max_skipped);
    Require(options.ema_decay >= 0 && options.ema_decay < 1, "trainer",
            "ema_decay must be from 0 to below 1, got {}", options.ema_decay);
    for (int rank = 0; rank < world.size(); ++rank) AddTransport(rank);
    for (int r = 0; r < options.replicas; ++r) BuildReplica(r);
    AddSegment(layout, Counts(), Counts(), totals);
    totals.bubble = MeasureBubble(schedule, totals.ranks);
    RunWorkers([](RankWorker& worker) { worker.Prepare(); });
  }

  // Calls fn for every rank's worker, each on a thread of its own.
  void RunWorkers(const std::function<void(RankWorker&)>& fn) {
    RunRanks(world, [&](Transport& rank) { fn(*workers[rank.rank()]); }, {.grace = options.grace});
  }

  void AddTransport(int rank) {
    Transport& plain = world.transport(rank);
    if (options.wrap_transport) wrapped.push_back(options.wrap_transport(plain));
    transports.push_back(options.wrap_transport ? wrapped.back().get() : &plain);
  }

  void BuildReplica(int replica) {
    std::vector<Block> blocks = parts.model();
    if (replica == 0) cuts = ChooseCuts(options, blocks);
    std::vector<Stage> stages = MakeStages(std::move(blocks), cuts);
    // Stages on different ranks share no variable, as they would not on different machines.
    for (size_t s = 1; s < stages.size(); ++s)
      if (SharesVariables(stages, s)) stages[s] = MakeStages(parts.model(), cuts)[s];
    if (replica == 0) table = ParameterTable(stages);
    ShareTiedWeights(stages);
    for (int rank : layout.PipelineOf(replica)) {
      std::map<int, Stage> own;
      for (int s : layout.place(rank).stages) own.emplace(s, stages[s]);
      const RankWorker::Run run{layout, schedule, table, options, parts};
      workers.push_back(std::make_unique<RankWorker>(*transports[rank], run, rank, std::move(own)));
    }
  }

  // Gives all replicas the running statistics of replica 0, which are the run's
  // (TrainState::weights).
  void ShareStatistics() {
    if (options.replicas == 1) return;
    RunWorkers([](RankWorker& worker) { worker.BroadcastBuffers(); });
  }

  // Counts from 0 again, so that an application may go on, with a smaller rate for example.
  void CheckSkipped() {
    if (skipped < options.max_skipped) return;
    Throw<TooManySkipped>(
        "trainer",
        "gave up after {} steps in a row, {} to {}, whose loss or gradients were not "
        "finite; they changed nothing",
        std::exchange(skipped, 0), step - options.max_skipped, step - 1);
  }

  std::vector<RankCounts> Counts() const {
    std::vector<RankCounts> counts;
    for (const auto& worker : workers) counts.push_back(worker->counts());
    return counts;
  }

  StageState StateOf(int rank, int number, const Stage& stage) const {
    return {&stage, &workers[rank]->optimizer(number), workers[rank]->average(number)};
  }

  // The stages of replica 0, whose state is saved, in model order.
  std::map<int, StageState> FirstReplica() const {
    std::map<int, StageState> stages;
    for (int rank : layout.PipelineOf(0))
      for (const auto& [number, stage] : workers[rank]->stages())
        stages[number] = StateOf(rank, number, stage);
    return stages;
  }

  std::vector<StageState> AllStages() const {
    std::vector<StageState> stages;
    for (const auto& worker : workers)
      for (const auto& [number, stage] : worker->stages())
        stages.push_back({&stage, &worker->optimizer(number), worker->average(number)});
    return stages;
  }

  const TrainerOptions options;
  const TrainingParts parts;
  const Schedule schedule;
  const WorldLayout layout;
  Cuts cuts;
  ParameterTable table;
  InProcessWorld world;
  std::vector<std::unique_ptr<Transport>> wrapped;
  std::vector<Transport*> transports;                // that each rank uses
  std::vector<std::unique_ptr<RankWorker>> workers;  // by rank
  int64_t step = 0;
  int skipped = 0;  // steps in a row
  TrainTotals totals;
};

Trainer::Trainer(TrainerOptions options, TrainingParts parts)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(parts))) {}
Trainer::~Trainer() = default;

namespace {

// Tells the application of each finished step, and keeps the time and the count.
class StepReporter {
 public:
  StepReporter(const TrainHooks& hooks, const TrainingParts& parts, TrainTotals& totals)
      : hooks_(hooks), parts_(parts), totals_(totals), before_(Seconds()) {}

  void operator()(const StepOutcome& outcome) {
    const double seconds = outcome.end_seconds - before_;
    before_ = outcome.end_seconds;
    totals_.steps += 1;
    totals_.samples += outcome.samples;
    totals_.skipped_steps += outcome.skipped ? 1 : 0;
    totals_.seconds += seconds;
    if (hooks_.on_step)
      hooks_.on_step({outcome.step, outcome.loss, outcome.samples, outcome.skipped,
                      parts_.learning_rate(outcome.step), seconds});
  }

 private:
  static double Seconds() { return static_cast<double>(trace::Now()) * 1e-9; }
  const TrainHooks& hooks_;
  const TrainingParts& parts_;
  TrainTotals& totals_;
  double before_;
};

// Switches tracing off at the end, also when an error is thrown.
struct TraceGuard {
  ~TraceGuard() { trace::Enable(false); }
};

}  // namespace

void Trainer::Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks) {
  Impl& impl = *impl_;
  const std::vector<RankCounts> before = impl.Counts();
  const TraceGuard guard;
  StepReporter report(hooks, impl.parts, impl.totals);
  StepBoard board(impl.layout.size(), impl.options.replicas,
                  {impl.step, end, impl.options.max_skipped, impl.skipped},
                  {.stop = hooks.stop,
                   .on_begin =
                       [&](int64_t step) {
                         if (hooks.trace) trace::Enable(hooks.trace(step));
                       },
                   .on_end =
                       [&](const StepOutcome& outcome) {
                         impl.step = outcome.step + 1;
                         report(outcome);
                       }});
  const int64_t begin = impl.step;
  impl.RunWorkers([&](RankWorker& worker) { worker.Train(board, batches, begin); });
  AddSegment(impl.layout, before, impl.Counts(), impl.totals);
  impl.totals.bubble = MeasureBubble(impl.schedule, impl.totals.ranks);
  impl.ShareStatistics();
  impl.skipped = board.skipped();
  impl.CheckSkipped();
}

EvaluationResult Trainer::Evaluate(int64_t count, const BatchFn& batches,
                                   const std::function<bool()>& stop) {
  Impl& impl = *impl_;
  std::vector<RankScore> scores(impl.workers.size());
  std::atomic<int64_t> samples{0};
  const BatchFn counted = [&](int64_t step, const RankPlace& place) {
    MiniBatch batch = batches(step, place);
    if (place.rank == 0) samples += batch.global_samples;
    return batch;
  };
  StepBoard board(impl.layout.size(), impl.options.replicas, {0, count}, {.stop = stop});
  impl.RunWorkers(
      [&](RankWorker& worker) { scores[worker.place().rank] = worker.Evaluate(board, counted); });
  EvaluationResult result{.samples = samples, .finished = board.decided_end() == count};
  for (const RankScore& score : scores) {
    result.loss += score.loss_sum;
    result.correct += score.correct;
  }
  if (result.samples > 0) result.loss /= static_cast<double>(result.samples);
  return result;
}

int64_t Trainer::step() const { return impl_->step; }

TrainState Trainer::State() const {
  TrainState state{.step = impl_->step};
  const std::map<int, StageState> stages = impl_->FirstReplica();
  for (const auto& [number, stage] : stages) {
    const auto owns = [this, stage = number](const std::string& parameter) {
      const ParameterTable& table = impl_->table;
      return table.entries()[table.IndexOf(parameter)].stages.front() == stage;
    };
    AppendParameters(stage, owns, state.weights);
    AppendOptimizer(stage, owns, state.optimizer);
    AppendAverages(stage, owns, state.averages);
  }
  for (const auto& [number, stage] : stages) AppendBuffers(stage, state.weights);
  return state;
}

void Trainer::SetWeights(const std::vector<NamedTensor>& weights) {
  CopyWeights(weights, impl_->AllStages());
  impl_->skipped = 0;
}

void Trainer::SetState(const TrainState& state) {
  CopyWeights(state.weights, impl_->AllStages());
  CopyOptimizer(state.optimizer, impl_->AllStages());
  CopyAverages(state.averages, impl_->AllStages());
  impl_->step = state.step;
  impl_->skipped = 0;
}

const TrainTotals& Trainer::totals() const { return impl_->totals; }
const WorldLayout& Trainer::layout() const { return impl_->layout; }
const Schedule& Trainer::schedule() const { return impl_->schedule; }
const Cuts& Trainer::cuts() const { return impl_->cuts; }

}  // namespace torus::parallel
