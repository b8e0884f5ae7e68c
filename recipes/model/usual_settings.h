// The settings that a run of a model begins with.
#pragma once

#include <string>
#include <vector>

#include "models/descriptor.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// `model` on one stage, its cut nowhere and its optimizer the usual one (UsualTraining). `models`:
// as Settings::models. The errors of ParseModelSpec.
Settings UsualSettings(const std::string& model,
                       const std::vector<ModelDescriptor>* models = nullptr);

}  // namespace torus::recipes
