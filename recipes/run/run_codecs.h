// The codecs of a run, from its settings.
#pragma once

#include "parallel/trainer/trainer_options.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// Whether a codec of a cut remembers samples, as delta does.
bool RemembersSamples(const Settings& settings);

// Those that --codec, --codec-backward and --codec-gradients name, with --codec-warmup and
// --codec-folder, which is relative to the process's own folder unless it is absolute (the program
// `train` makes it so, from where its user stood).
void SetCodecs(const Settings& settings, parallel::TrainerOptions& options);

}  // namespace torus::recipes
