#include "recipes/model/model_of.h"

namespace torus::recipes {

ModelSpec ModelOf(const Settings& settings) {
  return ParseModelSpec(settings.model, settings.models == nullptr ? Models() : *settings.models);
}

}  // namespace torus::recipes
