// How many bytes cross a cut.
#pragma once

#include "models/nn/cost.h"
#include "parallel/codec/codec.h"

namespace torus::recipes {

// The most bytes that `layer` sends to the next per forward if it is the last before a cut: its
// activation by `codec` (null: as it is), its other outputs as they are.
double CutBytes(const nn::LayerCost& layer, const parallel::Codec* codec);

}  // namespace torus::recipes
