#include "tools/replay/build_model.h"

#include <set>

#include "models/gpt2/config.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/resnet/cifar_resnet.h"
#include "models/resnet/resnet.h"
#include "models/roberta/config.h"
#include "models/vgg/vgg.h"
#include "tools/replay/attrs.h"

namespace torus::replay {
namespace {

using Model = std::shared_ptr<nn::Sequential>;

std::vector<InvertedResidualSetting> Settings(Attrs& config) {
  const nlohmann::json rows = config.Raw("inverted_residual_setting");
  if (rows.is_null()) return MobileNetV2Settings();
  std::vector<InvertedResidualSetting> settings;
  for (const nlohmann::json& row : rows) {
    const auto values = row.get<std::vector<int64_t>>();
    Require(values.size() == 4, "mobilenet_v2", "a setting needs four numbers, got {}", row.dump());
    settings.push_back({values[0], values[1], values[2], values[3]});
  }
  return settings;
}

Model BuildMobileNetV2(Attrs& config) {
  MobileNetV2Options options;
  options.num_classes = config.Int("num_classes", options.num_classes);
  options.width_mult = config.Number("width_mult", options.width_mult);
  options.round_nearest = config.Int("round_nearest", options.round_nearest);
  options.settings = Settings(config);
  config.Number("dropout", 0);  // off whatever it says
  options.dropout = 0;
  return MobileNetV2(options);
}

// The number behind a name: 13 of "vgg13".
int Depth(const std::string& name, size_t begin) { return std::stoi(name.substr(begin)); }

Model BuildVgg(const std::string& name, Attrs& config) {
  config.Number("dropout", 0);
  return Vgg({.depth = Depth(name, 3),
              .batch_norm = name.ends_with("_bn"),
              .num_classes = config.Int("num_classes", 1000),
              .dropout = 0});
}

Model BuildResNet(const std::string& name, Attrs& config) {
  config.Flag("zero_init_residual", false);  // of the initial values, which the case brings
  return ResNet({.depth = Depth(name, 6), .num_classes = config.Int("num_classes", 1000)});
}

Model BuildCifarResNet(const std::string& name, Attrs& config) {
  return CifarResNet({.depth = Depth(name, 12), .num_classes = config.Int("num_classes", 10)});
}

Model BuildRoberta(const nlohmann::json& config) {
  RobertaOptions options = RobertaFromConfig(config, "roberta");
  options.hidden_dropout_prob = options.attention_probs_dropout_prob = 0;
  options.classifier_dropout = 0;
  return Roberta(options);
}

Model BuildGpt2(const nlohmann::json& config) {
  Gpt2Options options = Gpt2FromConfig(config, "gpt2");
  options.resid_pdrop = options.embd_pdrop = options.attn_pdrop = 0;
  return Gpt2(options);
}

Model BuildImageModel(const std::string& name, const nlohmann::json& arguments) {
  Attrs config(name, arguments);
  Model model;
  if (name == "mobilenet_v2")
    model = BuildMobileNetV2(config);
  else if (name.starts_with("vgg"))
    model = BuildVgg(name, config);
  else if (name.starts_with("cifar"))
    model = BuildCifarResNet(name, config);
  else
    model = BuildResNet(name, config);
  config.Finish();
  return model;
}

}  // namespace

Model BuildModel(const Case& c) {
  static const std::set<std::string> kImageModels = {
      "mobilenet_v2", "vgg11",    "vgg13",     "vgg16",          "vgg19",
      "vgg11_bn",     "vgg13_bn", "vgg16_bn",  "vgg19_bn",       "resnet18",
      "resnet34",     "resnet50", "resnet101", "cifar_resnet20", "cifar_resnet56"};
  const std::string name = c.spec.value("model", "");
  nlohmann::json config = c.spec.value("config", nlohmann::json::object());
  if (config.is_null()) config = nlohmann::json::object();
  try {
    if (name == "roberta") return BuildRoberta(config);
    if (name == "gpt2") return BuildGpt2(config);
    if (kImageModels.contains(name)) return BuildImageModel(name, config);
  } catch (const BadInput& error) {
    throw Unsupported(error.what());
  }
  Throw<Unsupported>(name, "no such model");
}

}  // namespace torus::replay
