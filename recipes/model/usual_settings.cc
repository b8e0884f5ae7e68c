#include "recipes/model/usual_settings.h"

#include <algorithm>

#include "models/descriptor.h"
#include "recipes/model/model_of.h"

namespace torus::recipes {

Settings UsualSettings(const std::string& model, const std::vector<ModelDescriptor>* models) {
  Settings settings;
  settings.model = model;
  settings.models = models;
  const ModelSpec spec = ModelOf(settings);
  if (spec.task != ModelTask::kImages)
    settings.length = std::min(settings.length, spec.published.input);
  const UsualTraining usual = spec.training;
  settings.optimizer = usual.optimizer;
  settings.lr = usual.learning_rate;
  settings.weight_decay = usual.weight_decay;
  settings.beta2 = usual.beta2;
  settings.clip_norm = usual.clip_norm;
  settings.lr_schedule = usual.lr_schedule;
  return settings;
}

}  // namespace torus::recipes
