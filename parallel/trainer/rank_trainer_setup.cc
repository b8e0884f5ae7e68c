// Construction and preparation of a RankTrainer; its steps are in rank_trainer.cc.
#include <algorithm>
#include <thread>
#include <utility>

#include "parallel/optim/round_all.h"
#include "parallel/trainer/rank_codecs.h"
#include "parallel/trainer/rank_trainer.h"
#include "parallel/trainer/run_facts.h"
#include "parallel/trainer/run_schedule.h"
#include "parallel/trainer/run_topology.h"
#include "parallel/trainer/statistics_exchange.h"
#include "parallel/transport/rank_gpu.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

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

Device DeviceOf(const TrainerOptions& options, const Transport& world) {
  return options.device == DeviceKind::kCpu ? Device{} : GpuInTurn(world);
}

CommunicatorOptions SumsOfReplicas(const TrainerOptions& options) {
  const AllReduceAlgorithm algorithm = AllReduceByName(options.collectives);
  return {algorithm, algorithm == AllReduceAlgorithm::kEngine};
}

// Directly, or on GPUs by the engine.
CommunicatorOptions SumsOfTensorRanks(const TrainerOptions& options) {
  return {.engine_on_gpus = SumsOfReplicas(options).engine_on_gpus};
}

TrainerOptions& Checked(TrainerOptions& options, const TrainingParts& parts) {
  CheckRun(options, parts);
  return options;
}

}  // namespace

RankTrainer::RankTrainer(Transport& world, TrainerOptions options, TrainingParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      schedule_(RunScheduleOf(Checked(options_, parts_), parts_)),
      layout_(schedule_, options_.replicas, options_.tensor),
      wrapped_(Wrap(options_, world)),
      world_(wrapped_ ? *wrapped_ : world),
      place_(PlaceOf(layout_, world_.transport())),
      pipeline_(world_.transport(), layout_.PipelineOf(place_.replica, place_.tensor.rank)),
      replicas_(world_.transport(), layout_.ReplicasOf(place_.pipeline_rank, place_.tensor.rank),
                SumsOfReplicas(options_)),
      tensor_(world_.transport(), layout_.TensorRanksOf(place_.replica, place_.pipeline_rank),
              SumsOfTensorRanks(options_)),
      agreement_(world_, layout_),
      device_(DeviceOf(options_, world_.transport())),
      loss_scale_(options_.loss_scale),
      feed_(device_),
      model_(MakeRankModel(options_, parts_, place_.stages, place_.tensor, device_)),
      update_({pipeline_, replicas_, tensor_, agreement_}, place_, model_, StageOwners(schedule_),
              options_, parts_),
      executor_(std::make_unique<Executor>(pipeline_.transport(), schedule_,
                                           Pointers(model_.stages), MakeExecutorOptions())) {}

ExecutorOptions RankTrainer::MakeExecutorOptions() {
  ExecutorOptions options;
  options.loss = [this](const std::vector<Variable>& outputs, const std::vector<Tensor>& targets,
                        const StepContext& context) { return Loss(outputs, targets, context); };
  options.device = device_;
  if (WhyNoGraphs(options_).empty()) options.graphs = options_.cuda_graphs;
  options.times_gpu_work = options_.times_gpu_work;
  // Weights that come and go within a step are rounded as they are used.
  if (device_.kind == DeviceKind::kCuda &&
      std::ranges::none_of(schedule_.ranks[pipeline_.rank()], IsOfWeights, &Action::kind))
    options.round_weights = RoundAll;
  options.cuts = model_.cuts;
  options.skips = model_.skips;
  TakeCodecs(options_, place_, options);
  codec_ = CodecsText(options_, options);
  if (codec_ != "none") options.encodes_beside = options_.encodes_beside.value_or(HasCoreToSpare());
  if (options_.reproducible)
    options.on_accumulated = [this](int stage, int micro_batch) {
      update_.Accumulated(stage, micro_batch);
    };
  // Sums that begin within a backward would have to be part of its graph.
  if (options.graphs == CudaGraphs::kOff)
    options.on_last_backward = [this](int stage, int64_t step) {
      update_.BeginLastBackward(stage, step);
    };
  if (SyncsBatchNorm())
    options.gather_replicas = [this](const Tensor& own, const std::string& what) {
      return replicas_.AllGather(own, what);
    };
  options.tensor_group = {
      place_.tensor,
      [this](const Tensor& own, const std::string& what) { return tensor_.AllReduce(own, what); },
      [this](const Tensor& own, const std::string& what) { return tensor_.AllGather(own, what); },
      place_.tensor.size > 1 && options_.share_cuts ? &tensor_.transport() : nullptr};
  options.on_reduce = [this](int stage, int64_t step) {
    const double waited = agreement_.waited();
    update_.Reduce(stage, step, {share_, executor_->launched()}, [this] {
      executor_->CheckArrived();
      executor_->CheckValues();
      return WeightUpdate::Result{executor_->finite(), executor_->loss(), LossScaleValue()};
    });
    return agreement_.waited() - waited;
  };
  options.on_step = [this](int stage, int64_t step) { return Step(stage, step); };
  options.on_gather = [this](int stage, int64_t step) { update_.GatherWeights(stage, step); };
  options.on_free = [this](int stage, int64_t) { update_.FreeWeights(stage); };
  options.before_action = [this](const Action& action, int64_t step) {
    update_.Advance();
    // The GPU is still busy with backwards then.
    if (action.kind == ActionKind::kReduce) feed_.FetchAhead(step + 1);
    if (options_.before_action) options_.before_action(place_, action, step);
  };
  return options;
}

// Returns whether the step was taken. If running statistics may not depend on the replicas, they
// are made from the statistics of all replicas' micro-batches.
bool RankTrainer::Step(int stage, int64_t step) {
  const bool taken = update_.Step(stage, step, learning_rate_);
  if (taken && options_.reproducible && layout_.replicas() > 1)
    model_.stages.at(stage).ShareStatistics([this](const KeptStatistics& own) {
      return ExchangeStatistics(replicas_, own, micro_batches_, device_);
    });
  return taken;
}

namespace {

Tensor OnCpu(const Tensor& tensor) { return tensor.defined() ? tensor.To(Device{}) : tensor; }

Variable OnCpu(const Variable& variable) {
  return variable.defined() ? Variable(OnCpu(variable.data())) : variable;
}

template <class T>
std::vector<T> OnCpu(const std::vector<T>& values) {
  std::vector<T> there;
  for (const T& value : values) there.push_back(OnCpu(value));
  return there;
}

}  // namespace

Variable RankTrainer::Loss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets,
                           const StepContext& context) {
  if (scoring_ && place_.tells_loss()) {
    const std::vector<Tensor> there = OnCpu(targets);
    if (parts_.correct) score_.correct += parts_.correct(OnCpu(outputs), there);
    if (parts_.left_out) score_.left_out += parts_.left_out(there);
  }
  return parts_.loss(outputs, targets, context);
}

bool RankTrainer::HasCoreToSpare() const {
  const size_t ranks = world_.transport().SameHost().size();
  const size_t busy = std::max(ranks, static_cast<size_t>(options_.threads));
  return std::thread::hardware_concurrency() >= busy + ranks;
}

double RankTrainer::WorkOf(int rank) const {
  double work = 0;
  for (const int stage : layout_.place(rank).stages) work += model_.stage_costs[stage];
  return work;
}

// Each tensor-parallel rank computes by itself what they all have whole. To give the same bits
// their thread teams must have one size: the smallest share if their hosts differ.
int RankTrainer::AgreeOnTeam() {
  const std::vector<int> sharers = world_.transport().SameHost();
  const auto ranks = static_cast<int>(sharers.size());
  if (place_.tensor.size == 1) {
    std::vector<double> work;
    for (const int rank : sharers) work.push_back(WorkOf(rank));
    const auto place = std::ranges::find(sharers, world_.rank()) - sharers.begin();
    return ThreadShares(std::max(options_.threads, ranks), work)[place];
  }
  const int share = std::max(1, options_.threads / ranks);
  return std::ranges::min(tensor_.Share(share, "threads of tensor-parallel ranks"));
}

void RankTrainer::Connect() {
  std::vector<std::vector<int>> tied;
  for (const ParameterTable::Entry& entry : model_.table.entries())
    if (entry.tied()) tied.push_back(entry.stages);
  world_.transport().Connect(TopologyOf(schedule_, layout_, model_.skips, tied, options_.share_cuts,
                                        tensor_.options().engine_on_gpus));
}

void RankTrainer::UseOwnThreads() const { SetTeamSize(team_); }

std::shared_ptr<void> RankTrainer::ThreadScope() const {
  return options_.thread_scope ? options_.thread_scope(place_, device_) : nullptr;
}

void RankTrainer::Prepare() {
  const auto scope = ThreadScope();
  RequireEqualFacts(world_, FactsOf(options_, parts_, schedule_, model_, codec_));
  team_ = AgreeOnTeam();
  UseOwnThreads();
  Connect();
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

}  // namespace torus::parallel
