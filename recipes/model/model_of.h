// The model of a run.
#pragma once

#include "models/model_spec.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// That of `settings.model`: one of the registry, or where `settings.models` is given one of those.
// The errors of ParseModelSpec.
ModelSpec ModelOf(const Settings& settings);

}  // namespace torus::recipes
