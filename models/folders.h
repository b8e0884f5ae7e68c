// The folders of models, one line each.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// In the order of a help text. A line names the function that describes what its folder holds, and
// is the only one outside of that folder: the function's definition stands in its descriptor.cc.
#define TORUS_MODEL_FOLDERS(FOLDER) \
  FOLDER(MobileNetV2Descriptors)    \
  FOLDER(VggDescriptors)            \
  FOLDER(ResNetDescriptors)         \
  FOLDER(AmoebaNetDescriptors)      \
  FOLDER(RobertaDescriptors)        \
  FOLDER(Gpt2Descriptors)           \
  FOLDER(Gpt3Descriptors)

#define TORUS_DECLARE(Descriptors) std::vector<ModelDescriptor> Descriptors();
TORUS_MODEL_FOLDERS(TORUS_DECLARE)
#undef TORUS_DECLARE

}  // namespace torus
