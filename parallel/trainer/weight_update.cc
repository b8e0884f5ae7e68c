#include "parallel/trainer/weight_update.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "autograd/low_copy.h"
#include "parallel/optim/finite_gradients.h"
#include "parallel/optim/gradient_norm.h"
#include "parallel/trainer/clipping.h"
#include "runtime/error.h"

namespace torus::parallel {

namespace {

// Each parameter once, without those of which this rank holds nothing.
std::vector<NamedVariable> Unique(const std::vector<NamedVariable>& uses) {
  std::set<std::string> seen;
  std::vector<NamedVariable> unique;
  for (const NamedVariable& use : uses)
    if (use.value.defined() && seen.insert(use.name).second) unique.push_back(use);
  return unique;
}

std::vector<ShardedParameter> ParametersOf(const RankModel& model) {
  std::vector<ShardedParameter> parameters;
  for (const WeightSpec& weight : model.weights)
    if (weight.trained)
      parameters.push_back(
          {weight.name, Numel(weight.spec.shape),
           model.table.entries()[model.table.IndexOf(weight.name)].stages.front()});
  return parameters;
}

UpdateGraph::Key KeyOfGradients(const std::vector<NamedVariable>& parameters) {
  UpdateGraph::Key key;
  for (const NamedVariable& parameter : parameters) key.Add(parameter.value.grad());
  return key;
}

UpdateGraph::Key KeyOfUpdate(const Optimizer& optimizer) {
  UpdateGraph::Key key = KeyOfGradients(optimizer.parameters());
  for (const NamedVariable& parameter : optimizer.parameters()) {
    key.Add(parameter.value.data());
    key.Add(KeptLowCopy(parameter.value));
  }
  key.Add(optimizer.state_moves());
  return key;
}

// The stages of a tied weight sum its values each by itself, and must come to the same bits.
void CheckTied(const TrainerOptions& options, const ParameterTable& table) {
  const AllReduceAlgorithm sums = AllReduceByName(options.collectives);
  const bool by_place = sums == AllReduceAlgorithm::kRing || sums == AllReduceAlgorithm::kEngine;
  if (!ExchangesWeights(options.strategy)) return;
  for (const ParameterTable::Entry& entry : table.entries()) {
    const int first = entry.stages.front(), last = entry.stages.back();
    Require(first == last || !(options.reduce_codec || (by_place && options.replicas > 2)),
            "trainer",
            "{} sums {} in stages {} and {}, whose bits agree without a codec and with collectives "
            "direct, got {}{}",
            options.strategy, entry.name, first, last, options.collectives,
            options.reduce_codec ? " with a codec" : "");
  }
}

std::set<std::string> NamesOfSlices(const RankModel& model) {
  std::set<std::string> names;
  for (const WeightSpec& weight : model.weights)
    if (weight.split) names.insert(weight.name);
  return names;
}

}  // namespace

WeightUpdate::WeightUpdate(const Links& links, const RankPlace& place, const RankModel& model,
                           const std::vector<int>& stage_owners, const TrainerOptions& options,
                           const TrainingParts& parts)
    : links_(links),
      place_(place),
      model_(model),
      options_(options),
      work_(MakeAll(parts)),
      tied_(links.pipeline, model.table, stage_owners, Held()),
      check_graph_(model.device, "check") {
  for (const auto& [number, stage] : model.stages) {
    trees_.emplace(number, stage.Parameters());
    step_graphs_.try_emplace(number, model.device, "update");
  }
}

std::map<int, WeightUpdate::StageWork> WeightUpdate::MakeAll(const TrainingParts& parts) {
  CheckTied(options_, model_.table);
  const ShardPlan plan = PlanOf(options_.strategy, ParametersOf(model_), links_.replicas.size());
  std::map<int, StageWork> all;
  for (const auto& [number, stage] : model_.stages)
    all.emplace(number, MakeWork(number, stage, plan, parts));
  return all;
}

// An optimizer may reorder its parameters by groups. One that is made for all of them gives the
// order.
WeightUpdate::StageWork WeightUpdate::MakeWork(int number, const Stage& stage,
                                               const ShardPlan& plan, const TrainingParts& parts) {
  StageWork work;
  const std::unique_ptr<Optimizer> of_all = parts.optimizer(UniqueParameters(stage));
  for (const NamedVariable& parameter : of_all->parameters()) work.order.push_back(parameter.name);
  work.replicas =
      MakeStrategy(options_.strategy, links_.replicas, stage.Parameters(), plan, shards_,
                   {.bucket_bytes = options_.bucket_bytes,
                    .lane = number,
                    .only_stage = model_.stages.size() == 1,
                    .codec = options_.reduce_codec ? options_.reduce_codec() : nullptr,
                    .codec_warmup = options_.codec_warmup,
                    .seed = options_.seed,
                    .slices = NamesOfSlices(model_)});
  work.parameters = Unique(work.replicas->held());
  if (GathersWeights(options_.strategy))
    std::erase_if(work.parameters, [this](const NamedVariable& parameter) {
      return !stepped_.insert(parameter.name).second;
    });
  work.optimizer = parts.optimizer(work.parameters);
  if (options_.ema_decay > 0)
    work.average = std::make_unique<WeightAverage>(work.parameters, options_.ema_decay);
  return work;
}

std::map<int, std::vector<NamedVariable>> WeightUpdate::Held() const {
  std::map<int, std::vector<NamedVariable>> held;
  for (const auto& [number, work] : work_) held[number] = work.replicas->held();
  return held;
}

std::map<int, StageState> WeightUpdate::States() const {
  std::map<int, StageState> states;
  for (const auto& [number, work] : work_)
    states[number] = {&model_.stages.at(number), work.replicas.get(), work.optimizer.get(),
                      work.average.get(), work.order};
  return states;
}

void WeightUpdate::BeginStep(int64_t step, double loss_scale) {
  for (const auto& [number, work] : work_) work.replicas->BeginStep(step, loss_scale);
}

void WeightUpdate::EndStep(bool taken) {
  for (const auto& [number, work] : work_) work.replicas->EndStep(taken);
}

std::vector<int64_t> WeightUpdate::SavedBytes() const {
  std::vector<int64_t> saved(static_cast<size_t>(links_.replicas.size()), 0);
  for (const auto& [number, work] : work_) {
    const std::vector<int64_t> own = work.replicas->SavedBytes();
    for (size_t r = 0; r < own.size(); ++r) saved[r] += own[r];
  }
  return saved;
}

void WeightUpdate::BeginLastBackward(int stage, int64_t step) {
  if (options_.reproducible) return;  // the gradients are in the trees
  work_.at(stage).replicas->BeginLastBackward(fmt::format("step {}, stage {}", step, stage));
}

void WeightUpdate::Advance() {
  for (const auto& [number, work] : work_) work.replicas->Advance();
}

void WeightUpdate::Accumulated(int stage, int micro_batch) { trees_.at(stage).Take(micro_batch); }

void WeightUpdate::GatherWeights(int stage, int64_t step) {
  work_.at(stage).replicas->GatherWeights(fmt::format("step {}, stage {}", step, stage));
}

void WeightUpdate::FreeWeights(int stage) {
  NotePeak();
  work_.at(stage).replicas->FreeWeights();
}

void WeightUpdate::NotePeak() {
  uint64_t bytes = 0;
  for (const auto& [number, work] : work_)
    bytes += work.replicas->WeightBytes() + work.replicas->GatheredBytes() +
             work.replicas->GradientBytes();
  for (const auto& [number, of_stage] : optimizer_bytes_) bytes += of_stage;
  peak_bytes_ = std::max(peak_bytes_, bytes);
}

// In every schedule all reductions of a rank come before its first step.
void WeightUpdate::Reduce(int stage, int64_t step, const Gradients& gradients,
                          const ResultFn& result) {
  NotePeak();
  if (options_.reproducible) trees_.at(stage).Finish();
  work_.at(stage).replicas->ReduceGradients(fmt::format("step {}, stage {}", step, stage),
                                            gradients.share);
  if (++reduced_ < work_.size()) return;
  reduced_ = 0;
  launched_ = gradients.launched;
  FinishGradients(step, result);
}

// Each use's gradient of a tied weight is summed over the replicas before the uses are added, so
// the order of sums does not depend on the stages of the uses.
void WeightUpdate::FinishGradients(int64_t step, const ResultFn& result) {
  const std::string what = fmt::format("step {}", step);
  tied_.Sum(what);
  if (options_.on_gradients)
    for (const auto& [stage, work] : work_) options_.on_gradients(place_, step, work.parameters);
  std::vector<double> squares = NeedsNorm() ? SquaredNorms(step, what) : std::vector<double>();
  const bool finite = GradientsAreFinite(step, squares);
  const Result of_step = result();
  links_.agreement.Settle(step, of_step.finite && finite, of_step.loss);
  const double unscaled = 1 / of_step.loss_scale;  // exact: a power of two
  for (double& square : squares) square *= unscaled * unscaled;
  gradient_scale_ = unscaled;
  if (!NeedsNorm()) return;
  gradient_norm_ = std::nan("");
  if (links_.agreement.skipped()) return;
  SumOfSlices(links_.tensor, model_, squares, what);
  gradient_norm_ = PipelineGradientNorm(links_.pipeline, std::move(squares), what);
  if (options_.clip_norm > 0) gradient_scale_ *= ClipScale(*gradient_norm_, options_.clip_norm);
}

// The squared norms of the uses in all stages, one stage after another. A replica whose steps are
// launched holds all parameters: the strategies that shard them do not run on GPUs.
std::vector<double> WeightUpdate::NormsOfUses(int64_t step, const std::string& what) {
  std::vector<double> squares;
  if (!launched_) {
    for (const auto& [number, work] : work_)
      for (const double square : work.replicas->SquaredNorms(what)) squares.push_back(square);
    return squares;
  }
  std::vector<NamedVariable> uses;
  for (const auto& [number, work] : work_)
    uses.insert(uses.end(), work.replicas->held().begin(), work.replicas->held().end());
  return SquaredNormsFrom(
      check_graph_.Run(KeyOfGradients(uses), step, [&] { return StartSquaredNorms(uses); }), uses);
}

// The squared norms of the model's parameters, in order; 0 for those of other ranks of the
// pipeline.
std::vector<double> WeightUpdate::SquaredNorms(int64_t step, const std::string& what) {
  std::vector<double> squares(model_.table.entries().size());
  const std::vector<double> of_uses = NormsOfUses(step, what);
  auto next = of_uses.begin();
  for (const auto& [number, work] : work_) {
    const std::vector<NamedVariable>& uses = work.replicas->held();
    const auto begin = std::exchange(next, next + std::ssize(uses));
    AddSquaredNorms(model_.table, number, uses, {begin, next}, squares);
  }
  return squares;
}

// `squares`: those of the norm, which show whether all is finite without another pass; empty if
// the norm is not needed.
bool WeightUpdate::GradientsAreFinite(int64_t step, const std::vector<double>& squares) {
  if (NeedsNorm())
    return std::ranges::all_of(squares, [](double sum) { return std::isfinite(sum); });
  if (!launched_)
    return std::ranges::all_of(work_, [](const auto& work) {
      return parallel::GradientsAreFinite(work.second.parameters);
    });
  std::vector<NamedVariable> all;
  for (const auto& [number, work] : work_)
    all.insert(all.end(), work.parameters.begin(), work.parameters.end());
  return IsFinite(
      check_graph_.Run(KeyOfGradients(all), step, [&] { return StartFiniteCheck(all); }));
}

// Optimizer::Step, directly or by the launch of a graph.
void WeightUpdate::StepOptimizer(int stage, int64_t step, double learning_rate) {
  Optimizer& optimizer = *work_.at(stage).optimizer;
  if (!launched_ || !optimizer.splits()) return optimizer.Step(learning_rate, gradient_scale_);
  optimizer.Prepare(learning_rate, gradient_scale_);
  step_graphs_.at(stage).Run(KeyOfUpdate(optimizer), step, [&] {
    optimizer.Update();
    return Tensor();
  });
  optimizer.AfterLaunch();
}

bool WeightUpdate::Step(int stage, int64_t step, double learning_rate) {
  const StageWork& work = work_.at(stage);
  const bool taken = !links_.agreement.skipped();
  if (taken) StepOptimizer(stage, step, learning_rate);
  if (taken && work.average) work.average->Update();
  optimizer_bytes_[stage] = work.optimizer->StateBytes();
  NotePeak();
  for (Variable value; const NamedVariable& held : work.replicas->held()) {
    value = held.value;
    if (value.defined()) value.ZeroGrad();
  }
  if (!taken) return false;
  const std::string what = fmt::format("step {}, stage {}", step, stage);
  work.replicas->PublishWeights(what);
  work.replicas->Synchronize(what);
  return true;
}

void WeightUpdate::BroadcastState() {
  for (const auto& [number, work] : work_)
    work.replicas->BroadcastWeights(fmt::format("before step 0, stage {}", number));
  BroadcastBuffers();
}

void WeightUpdate::BroadcastBuffers() {
  for (const auto& [number, stage] : model_.stages)
    links_.replicas.Broadcast(stage.Buffers(), fmt::format("stage {}", number));
}

void WeightUpdate::EnterEvaluation() {
  SwapAverages();
  for (const auto& [number, work] : work_)
    work.replicas->EnterMean(fmt::format("evaluation, stage {}", number));
}

void WeightUpdate::LeaveEvaluation() {
  for (const auto& [number, work] : work_) work.replicas->LeaveMean();
  SwapAverages();
}

void WeightUpdate::SwapAverages() {
  for (const auto& [number, work] : work_) {
    if (!work.average) continue;
    work.average->Swap();
    work.replicas->PublishWeights(fmt::format("averages, stage {}", number));
  }
}

int64_t WeightUpdate::launched_updates() const {
  int64_t launched = 0;
  for (const auto& [stage, graph] : step_graphs_) launched += graph.launched();
  return launched;
}

std::string WeightUpdate::why_no_graph() const {
  if (!check_graph_.why_not().empty()) return check_graph_.why_not();
  for (const auto& [stage, graph] : step_graphs_)
    if (!graph.why_not().empty()) return graph.why_not();
  return {};
}

SquaredDrift WeightUpdate::Drift() const {
  SquaredDrift sum;
  if (KeepsReplicasEqual(options_.strategy)) return sum;
  for (const auto& [number, work] : work_) {
    const SquaredDrift own =
        DriftOf(links_.replicas, work.parameters, fmt::format("drift, stage {}", number));
    sum.distance += own.distance;
    sum.weights += own.weights;
  }
  return sum;
}

}  // namespace torus::parallel
