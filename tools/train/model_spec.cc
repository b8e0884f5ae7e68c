#include "tools/train/model_spec.h"

#include <charconv>

#include "models/checkpoint/state_dict.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "runtime/error.h"

namespace torus::tools {

ModelSpec ParseModelSpec(const std::string& spec) {
  const size_t colon = spec.find(':');
  ModelSpec parsed{.name = spec.substr(0, colon), .title = "MobileNetV2"};
  Require(parsed.name == "mobilenet_v2", "train",
          "--model must be mobilenet_v2 or mobilenet_v2:WIDTH, got {}", spec);
  if (colon == std::string::npos) return parsed;
  const char *begin = spec.data() + colon + 1, *end = spec.data() + spec.size();
  const auto read = std::from_chars(begin, end, parsed.width_mult);
  Require(
      read.ec == std::errc() && read.ptr == end && parsed.width_mult > 0 && parsed.width_mult <= 16,
      "train", "--model {}: the width must be a number above 0 and at most 16", spec);
  parsed.title += " x " + spec.substr(colon + 1);
  return parsed;
}

std::shared_ptr<nn::Sequential> BuildModel(const std::string& spec, int64_t classes, uint64_t seed,
                                           const std::string& weights_file) {
  auto model = MobileNetV2({.num_classes = classes, .width_mult = ParseModelSpec(spec).width_mult});
  model->Initialize(seed);
  if (!weights_file.empty()) LoadModel(*model, weights_file);
  return model;
}

}  // namespace torus::tools
