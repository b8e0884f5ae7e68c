#include "models/registry.h"

#include "models/folders.h"

namespace torus {

const std::vector<ModelDescriptor>& Models() {
  static const std::vector<ModelDescriptor> models = [] {
    std::vector<ModelDescriptor> all;
    const auto add = [&all](const std::vector<ModelDescriptor>& folder) {
      all.insert(all.end(), folder.begin(), folder.end());
    };
#define TORUS_ADD(Descriptors) add(Descriptors());
    TORUS_MODEL_FOLDERS(TORUS_ADD)
#undef TORUS_ADD
    return all;
  }();
  return models;
}

}  // namespace torus
