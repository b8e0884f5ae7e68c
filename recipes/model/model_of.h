// The model of a run.
#pragma once

#include "models/model_spec.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// Looks up `settings.model` in `settings.models` if that is given, otherwise in the registry.
// Throws the errors of ParseModelSpec.
ModelSpec ModelOf(const Settings& settings);

}  // namespace torus::recipes
