#include "recipes/model/model_blocks.h"

#include "runtime/error.h"

namespace torus::recipes {
namespace {

parallel::Block MakeBlock(const nn::Sequential::Layer& layer) {
  parallel::Block block;
  block.name = layer.title;
  block.forward = [module = layer.module](const std::vector<Variable>& inputs,
                                          const StepContext& context) {
    return module->ForwardAll(inputs, context);
  };
  block.parameters = layer.module->Parameters(layer.name);
  block.splits = layer.module->Splits(layer.name);
  block.split = [module = layer.module](const TensorPlace& place) { module->Split(place); };
  block.buffers = layer.module->Buffers(layer.name);
  block.end_mini_batch = [module = layer.module](bool taken) { module->EndMiniBatch(taken); };
  block.share_statistics = [module = layer.module](const ShareStatistics& share) {
    module->Share(share);
  };
  return block;
}

}  // namespace

std::vector<parallel::Block> ModelBlocks(const nn::Sequential& model,
                                         const std::vector<nn::LayerSummary>& layers) {
  TORUS_CHECK(layers.empty() || layers.size() == model.layers().size());
  std::vector<parallel::Block> blocks;
  for (const nn::Sequential::Layer& layer : model.layers()) {
    blocks.push_back(MakeBlock(layer));
    if (!layers.empty()) blocks.back().cost = nn::StaticCost(layers[blocks.size() - 1].cost);
  }
  return blocks;
}

}  // namespace torus::recipes
