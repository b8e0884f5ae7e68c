#include "tools/replay/model_case.h"

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "models/checkpoint/state_dict.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "ops/loss/cross_entropy.h"
#include "tools/replay/attrs.h"

namespace torus::replay {
namespace {

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

std::shared_ptr<nn::Sequential> BuildMobileNetV2(Attrs& config) {
  MobileNetV2Options options;
  options.num_classes = config.Int("num_classes", options.num_classes);
  options.width_mult = config.Number("width_mult", options.width_mult);
  options.round_nearest = config.Int("round_nearest", options.round_nearest);
  options.settings = Settings(config);
  config.Number("dropout", 0);  // off whatever it says
  options.dropout = 0;
  return MobileNetV2(options);
}

bool EndsWith(const std::string& name, const char* end) { return name.ends_with(end); }

}  // namespace

std::shared_ptr<nn::Sequential> BuildModel(const Case& c) {
  const std::string name = c.spec.value("model", "");
  if (name != "mobilenet_v2") Throw<Unsupported>(name, "no such model");
  Attrs config(name, c.spec.value("config", nlohmann::json()));
  std::shared_ptr<nn::Sequential> model = BuildMobileNetV2(config);
  config.Finish();
  return model;
}

void LoadState(nn::Module& model, const std::map<std::string, Tensor>& state,
               const std::string& where) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : state) tensors.push_back({name, tensor});
  for (const NamedTensor& buffer : model.Buffers())
    if (EndsWith(buffer.name, "num_batches_tracked") && !state.contains(buffer.name))
      tensors.push_back({buffer.name, Zeros({}, DType::kI64)});
  LoadStateDict(model, tensors, where);
}

Shape ImageShape(const Tensor& images) { return images.Permute({0, 2, 3, 1}).shape(); }

StepResult RunStep(nn::Sequential& model, const Tensor& images, const Tensor& labels) {
  StepContext ctx;
  for (int64_t i = 0; i < images.dim(0); ++i) ctx.samples.push_back(i);
  for (NamedVariable& parameter : model.Parameters()) parameter.value.ZeroGrad();
  StepResult step;
  step.logits = model.Forward(Variable(images.Permute({0, 2, 3, 1}).Contiguous()), ctx);
  step.loss = ops::CrossEntropy(step.logits, Variable(labels));
  Backward({step.loss});
  model.EndMiniBatch();
  return step;
}

void CheckRunningStatistics(const nn::Module& model, const std::map<std::string, Tensor>& wanted,
                            const std::string& prefix, const ModelTolerance& tolerance,
                            Comparison& result) {
  for (const NamedTensor& buffer : model.Buffers()) {
    const auto want = wanted.find(buffer.name);
    if (want == wanted.end()) continue;
    double scale = LargestMagnitude(want->second);
    if (EndsWith(buffer.name, "running_mean")) {
      const std::string layer = buffer.name.substr(0, buffer.name.size() - 4);
      if (const auto var = wanted.find(layer + "var"); var != wanted.end())
        scale = std::max(scale, std::sqrt(LargestMagnitude(var->second)));
    }
    result.Check(prefix + buffer.name, buffer.value, want->second, tolerance.Forward(scale));
  }
}

}  // namespace torus::replay
