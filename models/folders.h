// The list of model folders, one line each.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// In the order of the help text. Each line names the function that returns the descriptors of a
// folder and is defined in its descriptor.cc. Adding a model changes no other line outside of its
// folder.
#define TORUS_MODEL_FOLDERS(FOLDER) \
  FOLDER(MobileNetV2Descriptors)    \
  FOLDER(VggDescriptors)            \
  FOLDER(ResNetDescriptors)         \
  FOLDER(VitDescriptors)            \
  FOLDER(AmoebaNetDescriptors)      \
  FOLDER(RobertaDescriptors)        \
  FOLDER(Gpt2Descriptors)           \
  FOLDER(Gpt3Descriptors)           \
  FOLDER(LlamaDescriptors)

#define TORUS_DECLARE(Descriptors) std::vector<ModelDescriptor> Descriptors();
TORUS_MODEL_FOLDERS(TORUS_DECLARE)
#undef TORUS_DECLARE

}  // namespace torus
