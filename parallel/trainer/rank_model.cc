#include "parallel/trainer/rank_model.h"

#include <set>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {
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

namespace {

std::vector<WeightSpec> WeightsOf(const std::vector<Stage>& stages) {
  std::vector<WeightSpec> weights;
  std::set<std::string> seen;
  for (const Stage& stage : stages)
    for (const NamedVariable& use : stage.Parameters())
      if (seen.insert(use.name).second)
        weights.push_back({use.name, {use.value.shape(), use.value.dtype()}});
  for (const Stage& stage : stages)
    for (const NamedTensor& buffer : stage.Buffers())
      weights.push_back({buffer.name, {buffer.value.shape(), buffer.value.dtype()}, false});
  return weights;
}

}  // namespace

RankModel MakeRankModel(const TrainerOptions& options, const TrainingParts& parts,
                        const std::vector<int>& own, Device device) {
  RankModel model;
  std::vector<Block> blocks = parts.model();
  model.cuts = ChooseCuts(options, blocks);
  model.skips = FindSkipConnections(blocks, model.cuts);
  std::vector<Stage> stages = MakeStages(std::move(blocks), model.cuts);
  for (size_t i = 1; i < own.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (ShareVariables(stages[own[j]], stages[own[i]]))
        stages[own[i]] = MakeStages(parts.model(), model.cuts)[own[i]];
  model.table = ParameterTable(stages);
  model.weights = WeightsOf(stages);
  ShareTiedWeights(stages, own);
  for (const int s : own) {
    stages[s].MoveTo(device);
    model.stages.emplace(s, std::move(stages[s]));
  }
  return model;
}

}  // namespace torus::parallel
