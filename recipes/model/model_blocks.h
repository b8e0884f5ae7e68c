// A model as the list of blocks that a pipeline cuts: where models and parallel meet.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/sequential.h"
#include "parallel/pipeline/block.h"

namespace torus::recipes {

// One block a layer, under the layer's title; parameters and buffers under the model's names. The
// blocks keep their layers alive, not the model. `input`: shape of a micro-batch, for the static
// costs.
std::vector<parallel::Block> ModelBlocks(std::shared_ptr<nn::Sequential> model, const Shape& input);

}  // namespace torus::recipes
