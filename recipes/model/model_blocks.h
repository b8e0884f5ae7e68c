// Turns a model into the list of blocks that a pipeline is cut into. Connects `models` and
// `parallel`.
#pragma once

#include <vector>

#include "models/nn/describe.h"
#include "parallel/pipeline/block.h"

namespace torus::recipes {

// Returns one block per layer, named by the layer's title; parameters and buffers have the model's
// names. The blocks keep their layers alive, but not the model. `layers` is the result of
// nn::Describe and gives the static costs; if it is empty, all blocks cost the same.
std::vector<parallel::Block> ModelBlocks(const nn::Sequential& model,
                                         const std::vector<nn::LayerSummary>& layers = {});

}  // namespace torus::recipes
