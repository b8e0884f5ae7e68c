// The codecs of a run, from its settings.
#pragma once

#include "parallel/trainer/trainer_options.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// Those that --codec, --codec-backward, --codec-gradients and
// --codec-warmup name. What the options have as `codec`
// already, an application's own, stays.
void SetCodecs(const Settings& settings, parallel::TrainerOptions& options);

}  // namespace torus::recipes
