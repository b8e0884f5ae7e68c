#include "models/checkpoint/config_reader.h"
#include "models/folders.h"
#include "models/resnet/cifar_resnet.h"
#include "models/resnet/resnet.h"

namespace torus {
namespace {

using nlohmann::json;

json ConfigOf(std::span<const double>, int64_t outputs) { return {{"num_classes", outputs}}; }

ModelDescriptor ResNetOf(int depth) {
  return {.name = fmt::format("resnet{}", depth),
          .title = fmt::format("ResNet-{}", depth),
          .config = ConfigOf,
          .build = [depth](const json& config, const std::string& where, const BuildOptions&) {
            const ConfigReader reader(config, where);
            reader.RequireKnown({"num_classes", "zero_init_residual"});
            ResNetOptions o{.depth = depth};
            reader.Read("num_classes", o.num_classes);
            return ResNet(o);
          }};
}

ModelDescriptor CifarResNetOf(int depth) {
  return {.name = fmt::format("cifar_resnet{}", depth),
          .title = fmt::format("CIFAR ResNet-{}", depth),
          .published = {.outputs = 10, .input = 32},
          .config = ConfigOf,
          .build =
              [depth](const json& config, const std::string& where, const BuildOptions&) {
                const ConfigReader reader(config, where);
                reader.RequireKnown({"num_classes"});
                CifarResNetOptions o{.depth = depth};
                reader.Read("num_classes", o.num_classes);
                return CifarResNet(o);
              },
          .training = {.weight_decay = 1e-4}};
}

}  // namespace

// resnet18, resnet34, resnet50 and resnet101, whose configurations are the arguments of
// torchvision's functions (num_classes; zero_init_residual is accepted, since it affects only
// initial values), then cifar_resnet20 and cifar_resnet56 (num_classes).
std::vector<ModelDescriptor> ResNetDescriptors() {
  return {ResNetOf(18),  ResNetOf(34),      ResNetOf(50),
          ResNetOf(101), CifarResNetOf(20), CifarResNetOf(56)};
}

}  // namespace torus
