// A model as the list of blocks that a pipeline cuts: where models and parallel meet.
#pragma once

#include <vector>

#include "models/nn/describe.h"
#include "parallel/pipeline/block.h"

namespace torus::recipes {

// One block a layer, under the layer's title; parameters and buffers under the model's names. The
// blocks keep their layers alive, not the model. `layers`: what nn::Describe says of the model, for
// static costs; where it is empty all blocks cost the same.
std::vector<parallel::Block> ModelBlocks(const nn::Sequential& model,
                                         const std::vector<nn::LayerSummary>& layers = {});

}  // namespace torus::recipes
