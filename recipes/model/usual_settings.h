// The default settings of a model.
#pragma once

#include <string>
#include <vector>

#include "recipes/settings/settings.h"

namespace torus {
struct ModelDescriptor;
}

namespace torus::recipes {

// Settings for `model` on one stage, without cuts, with its usual optimizer (UsualTraining).
// `models` is as Settings::models. Throws the errors of ParseModelSpec.
Settings UsualSettings(const std::string& model,
                       const std::vector<ModelDescriptor>* models = nullptr);

}  // namespace torus::recipes
