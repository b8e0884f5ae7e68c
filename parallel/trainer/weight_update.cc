#include "parallel/trainer/weight_update.h"

#include <algorithm>
#include <cmath>

#include "parallel/optim/finite_gradients.h"
#include "parallel/optim/gradient_norm.h"
#include "parallel/trainer/clipping.h"
#include "runtime/error.h"

namespace torus::parallel {

WeightUpdate::WeightUpdate(const Links& links, const RankPlace& place, const RankModel& model,
                           const std::vector<int>& stage_owners, const TrainerOptions& options,
                           const TrainingParts& parts)
    : links_(links),
      place_(place),
      model_(model),
      options_(options),
      tied_(links.pipeline, model.table, stage_owners, model.stages) {
  const AllReduceAlgorithm all_reduce = AllReduceByName(options.collectives);
  for (const auto& [number, stage] : model.stages) {
    StageWork& work = work_[number];
    work.parameters = UniqueParameters(stage);
    if (links.replicas.size() > 1)
      work.replicas = std::make_unique<DataParallel>(links.replicas, stage.Parameters(),
                                                     DataParallelOptions{.all_reduce = all_reduce});
    work.optimizer = parts.optimizer(work.parameters);
    if (options.ema_decay > 0)
      work.average = std::make_unique<WeightAverage>(work.parameters, options.ema_decay);
  }
}

// Whatever the schedule, all reductions of a rank come before its first step.
void WeightUpdate::Reduce(int stage, int64_t step, const Result& result) {
  if (DataParallel* replicas = work_.at(stage).replicas.get())
    replicas->ReduceGradients(fmt::format("step {}, stage {}", step, stage));
  if (++reduced_ < work_.size()) return;
  reduced_ = 0;
  FinishGradients(step, result);
}

// The gradient of each use of a tied weight is summed over the replicas before the uses are added:
// one order of sums, whichever stages the uses lie in.
void WeightUpdate::FinishGradients(int64_t step, const Result& result) {
  const std::string what = fmt::format("step {}", step);
  tied_.Sum(what);
  if (options_.on_gradients)
    for (const auto& [stage, work] : work_) options_.on_gradients(place_, step, work.parameters);
  const bool clips = options_.clip_norm > 0;
  std::vector<double> squares =
      clips ? OwnSquaredNorms(model_.table, model_.stages) : std::vector<double>();
  links_.agreement.Settle(step, result.finite && GradientsAreFinite(squares), result.loss);
  if (clips && !links_.agreement.skipped())
    gradient_scale_ = ClipScale(PipelineGradientNorm(links_.pipeline, std::move(squares), what),
                                options_.clip_norm);
}

// `squares`: those of the clipping norm, which show what is not finite without another pass; empty
// without clipping.
bool WeightUpdate::GradientsAreFinite(const std::vector<double>& squares) const {
  if (options_.clip_norm > 0)
    return std::ranges::all_of(squares, [](double sum) { return std::isfinite(sum); });
  return std::ranges::all_of(
      work_, [](const auto& work) { return parallel::GradientsAreFinite(work.second.parameters); });
}

bool WeightUpdate::Step(int stage, double learning_rate) {
  StageWork& work = work_.at(stage);
  const bool taken = !links_.agreement.skipped();
  if (taken) work.optimizer->Step(learning_rate, gradient_scale_);
  if (taken && work.average) work.average->Update();
  for (NamedVariable& parameter : work.parameters) parameter.value.ZeroGrad();
  return taken;
}

void WeightUpdate::BroadcastState() {
  for (auto& [number, work] : work_)
    if (work.replicas) work.replicas->BroadcastState(model_.stages.at(number).Buffers());
}

void WeightUpdate::BroadcastBuffers() {
  for (auto& [number, work] : work_)
    if (work.replicas) work.replicas->BroadcastBuffers(model_.stages.at(number).Buffers());
}

void WeightUpdate::SwapAverages() {
  for (auto& [number, work] : work_)
    if (work.average) work.average->Swap();
}

}  // namespace torus::parallel
