// The run's model, described and as the blocks that a pipeline cuts.
#pragma once

#include <string>
#include <vector>

#include "models/checkpoint/load_weights.h"
#include "models/nn/describe.h"
#include "parallel/pipeline/block.h"
#include "recipes/data/data_form.h"

namespace torus::recipes {

// Its layers for the largest micro-batch, from shapes alone: neither weights nor activations take
// memory.
std::vector<nn::LayerSummary> DescribeLayers(const Settings& settings, const DataForm& form);

// Its blocks with the initial weights, equal bits on every call; those of --recompute are marked.
// `weights_file`: where the weights come from, and how strictly by `notes`, as BuildModel takes
// them; empty: from the seed. BadInput for layers that the model has not, and BuildModel's errors.
std::vector<parallel::Block> BuildBlocks(const Settings& settings, const DataForm& form,
                                         const std::string& weights_file,
                                         BodyNotes* notes = nullptr);

}  // namespace torus::recipes
