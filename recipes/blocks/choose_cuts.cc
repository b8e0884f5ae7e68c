#include "recipes/blocks/choose_cuts.h"

#include "parallel/pipeline/partition.h"
#include "parallel/trainer/block_costs.h"
#include "parallel/trainer/world_layout.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/data/task_loss.h"
#include "recipes/model/model_of.h"
#include "runtime/error.h"
#include "runtime/team_size_guard.h"

namespace torus::recipes {
namespace {

std::vector<double> StaticCosts(const std::vector<nn::LayerSummary>& layers) {
  std::vector<double> costs;
  for (const nn::LayerSummary& layer : layers) costs.push_back(nn::StaticCost(layer.cost));
  return costs;
}

// With the threads that a rank will have, and with the run's loss, where a language model has its
// head.
std::vector<double> Measure(const Settings& settings, const DataForm& form) {
  const TeamSizeGuard team(parallel::ThreadShare(static_cast<int>(settings.threads),
                                                 static_cast<int>(RanksOf(settings)), 0));
  const ModelSpec model = ModelOf(settings);
  const std::vector<parallel::TensorSpec> inputs = form.inputs(LargestMicroBatch(settings));
  const std::vector<Tensor> targets = SampleTargets(model.task, inputs[0].shape);
  return parallel::MeasureBlockCosts(
      BuildBlocks(settings, form, ""), inputs,
      [loss = TaskLoss(model), &targets](const auto& outputs) { return loss(outputs, targets); });
}

}  // namespace

CutChoice ChooseCuts(const Settings& settings, const DataForm& form) {
  const std::vector<nn::LayerSummary> layers = DescribeLayers(settings, form);
  const auto stages = static_cast<int>(settings.stages);
  Require(layers.size() >= static_cast<size_t>(stages), "train",
          "--stages {} needs as many layers, but {} has {}", stages, settings.model, layers.size());
  CutChoice choice;
  if (settings.cut == "auto") {
    choice.measured = Measure(settings, form);
    choice.cuts = parallel::BalanceCuts(choice.measured, stages);
  } else if (settings.cut.empty()) {
    choice.cuts = parallel::BalanceCuts(StaticCosts(layers), stages);
  } else {
    choice.cuts = parallel::ParseCuts(settings.cut);
    parallel::CheckCuts(choice.cuts, static_cast<int>(layers.size()));
  }
  return choice;
}

}  // namespace torus::recipes
