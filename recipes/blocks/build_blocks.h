// Builds or describes the run's model as the blocks that a pipeline is cut into.
#pragma once

#include <string>
#include <vector>

#include "models/checkpoint/load_weights.h"
#include "models/nn/describe.h"
#include "parallel/pipeline/block.h"
#include "recipes/data/data_form.h"

namespace torus::recipes {

// The model's layers for the largest micro-batch. Works from shapes alone: allocates neither
// weights nor activations.
std::vector<nn::LayerSummary> DescribeLayers(const Settings& settings, const DataForm& form);

// The model's blocks with the initial weights, the same bits on every call. Blocks that --recompute
// names are marked. Without `weights` they come from the seed.
// `weights`, `notes` and `taken` are passed to BuildModel. Throws BadInput if --recompute names a
// layer that the model does not have, and BuildModel's errors.
std::vector<parallel::Block> BuildBlocks(const Settings& settings, const DataForm& form,
                                         const WeightsSource& weights, BodyNotes* notes = nullptr,
                                         TakenWeights* taken = nullptr);

}  // namespace torus::recipes
