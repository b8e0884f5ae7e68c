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

// By parameter.
struct Splits {
  std::map<std::string, TensorSplit> how;
  std::map<std::string, Shape> whole;
};

Splits SplitsOf(const std::vector<Block>& blocks) {
  Splits splits;
  for (const Block& block : blocks)
    for (const NamedSplit& one : block.splits) splits.how[one.name] = one.split;
  for (const Block& block : blocks)
    for (const NamedVariable& parameter : block.parameters)
      if (splits.how.contains(parameter.name))
        splits.whole[parameter.name] = parameter.value.shape();
  return splits;
}

void NoteSplits(const Splits& splits, std::vector<WeightSpec>& weights) {
  for (WeightSpec& weight : weights) {
    const auto found = splits.how.find(weight.name);
    if (found == splits.how.end()) continue;
    weight.split = found->second;
    weight.whole = splits.whole.at(weight.name);
  }
}

void Split(const std::vector<Block>& blocks, const TensorPlace& tensor) {
  if (tensor.size == 1) return;
  for (const Block& block : blocks)
    if (block.split) block.split(tensor);
}

}  // namespace

RankModel MakeRankModel(const TrainerOptions& options, const TrainingParts& parts,
                        const std::vector<int>& own, const TensorPlace& tensor, Device device) {
  RankModel model{.tensor = tensor, .device = device};
  std::vector<Block> blocks = parts.model();
  const Splits splits = tensor.size > 1 ? SplitsOf(blocks) : Splits();
  Require(tensor.size == 1 || !splits.how.empty(), "trainer",
          "{} tensor-parallel ranks need blocks that can be split, got none among {}", tensor.size,
          blocks.size());
  Split(blocks, tensor);
  model.cuts = ChooseCuts(options, blocks);
  model.skips = FindSkipConnections(blocks, model.cuts);
  std::vector<Stage> stages = MakeStages(std::move(blocks), model.cuts);
  for (const Stage& stage : stages) model.stage_costs.push_back(stage.cost());
  for (size_t i = 1; i < own.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (ShareVariables(stages[own[j]], stages[own[i]])) {
        std::vector<Block> apart = parts.model();
        Split(apart, tensor);
        stages[own[i]] = MakeStages(std::move(apart), model.cuts)[own[i]];
      }
  model.table = ParameterTable(stages);
  model.weights = WeightsOf(stages);
  NoteSplits(splits, model.weights);
  ShareTiedWeights(stages, own);
  for (const int s : own) {
    stages[s].MoveTo(device);
    model.stages.emplace(s, std::move(stages[s]));
  }
  return model;
}

}  // namespace torus::parallel
