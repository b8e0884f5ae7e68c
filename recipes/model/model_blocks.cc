#include "recipes/model/model_blocks.h"

#include "models/nn/describe.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

parallel::Block MakeBlock(const nn::Sequential::Layer& layer, double cost) {
  parallel::Block block;
  block.name = layer.title;
  block.forward = [module = layer.module](const std::vector<Variable>& inputs,
                                          const StepContext& context) {
    return module->ForwardAll(inputs, context);
  };
  block.parameters = layer.module->Parameters(layer.name);
  block.buffers = layer.module->Buffers(layer.name);
  block.end_mini_batch = [module = layer.module](bool taken) { module->EndMiniBatch(taken); };
  block.cost = cost;
  return block;
}

}  // namespace

std::vector<parallel::Block> ModelBlocks(std::shared_ptr<nn::Sequential> model,
                                         const Shape& input) {
  const std::vector<nn::LayerSummary> layers = nn::Describe(*model, input);
  std::vector<parallel::Block> blocks;
  for (size_t i = 0; i < layers.size(); ++i)
    blocks.push_back(MakeBlock(model->layers()[i], nn::StaticCost(layers[i].cost)));
  return blocks;
}

}  // namespace torus::recipes
