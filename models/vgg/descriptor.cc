#include "models/checkpoint/config_reader.h"
#include "models/folders.h"
#include "models/vgg/vgg.h"

namespace torus {
namespace {

using nlohmann::json;

ModelDescriptor Describe(int depth, bool batch_norm) {
  return {.name = fmt::format("vgg{}{}", depth, batch_norm ? "_bn" : ""),
          .title = fmt::format("VGG{}{}", depth, batch_norm ? " with batch norm" : ""),
          .config =
              [](std::span<const double>, int64_t outputs) {
                return json{{"num_classes", outputs}};
              },
          .build =
              [=](const json& config, const std::string& where, const BuildOptions& options) {
                const ConfigReader reader(config, where);
                reader.RequireKnown({"num_classes", "dropout"});
                VggOptions o{.depth = depth, .batch_norm = batch_norm};
                reader.Read("num_classes", o.num_classes);
                reader.Read("dropout", o.dropout);
                if (!options.dropout) o.dropout = 0;
                return Vgg(o);
              },
          .training = {.learning_rate = 0.01}};
}

}  // namespace

// vgg11, vgg13, vgg16 and vgg19, then each with the suffix "_bn". Configurations are the arguments
// of torchvision's vgg11 ...: num_classes and dropout.
std::vector<ModelDescriptor> VggDescriptors() {
  std::vector<ModelDescriptor> all;
  for (const bool batch_norm : {false, true})
    for (const int depth : {11, 13, 16, 19}) all.push_back(Describe(depth, batch_norm));
  return all;
}

}  // namespace torus
