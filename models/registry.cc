#include "models/registry.h"

#include "models/amoebanet/descriptor.h"
#include "models/gpt2/descriptor.h"
#include "models/gpt3/descriptor.h"
#include "models/mobilenet_v2/descriptor.h"
#include "models/resnet/descriptor.h"
#include "models/roberta/descriptor.h"
#include "models/vgg/descriptor.h"

namespace torus {

const std::vector<ModelDescriptor>& Models() {
  static const std::vector<ModelDescriptor> models = [] {
    std::vector<ModelDescriptor> all;
    for (const auto& folder :
         {MobileNetV2Descriptors(), VggDescriptors(), ResNetDescriptors(), AmoebaNetDescriptors(),
          RobertaDescriptors(), Gpt2Descriptors(), Gpt3Descriptors()})
      all.insert(all.end(), folder.begin(), folder.end());
    return all;
  }();
  return models;
}

}  // namespace torus
