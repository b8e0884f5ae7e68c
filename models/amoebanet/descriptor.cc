#include "models/amoebanet/amoebanet.h"
#include "models/checkpoint/config_reader.h"
#include "models/folders.h"

namespace torus {
namespace {

using nlohmann::json;

json ConfigOf(std::span<const double> sizes, int64_t outputs) {
  json config = {{"num_classes", outputs}};
  if (!sizes.empty()) {
    config["num_layers"] = static_cast<int64_t>(sizes[0]);
    config["num_filters"] = static_cast<int64_t>(sizes[1]);
  }
  return config;
}

std::shared_ptr<nn::Sequential> Build(const json& config, const std::string& where,
                                      const BuildOptions&) {
  const ConfigReader reader(config, where);
  reader.RequireKnown({"num_classes", "num_layers", "num_filters"});
  AmoebaNetOptions o;
  reader.Read("num_classes", o.num_classes);
  reader.Read("num_layers", o.layers);
  reader.Read("num_filters", o.filters);
  return AmoebaNetD(o);
}

}  // namespace

// amoebanetd, which takes its layers and filters. Configurations have the arguments of
// torchgpipe's amoebanetd: num_classes, num_layers and num_filters.
std::vector<ModelDescriptor> AmoebaNetDescriptors() {
  return {{.name = "amoebanetd",
           .title = "AmoebaNet-D",
           .size_numbers = {LayersOfSize(), {"FILTERS", "number of filters", 65536}},
           .size_title = " ({}, {})",
           .config = ConfigOf,
           .build = Build}};
}

}  // namespace torus
