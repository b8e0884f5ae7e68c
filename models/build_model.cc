#include "models/build_model.h"

#include <filesystem>

#include "models/checkpoint/config_match.h"
#include "models/checkpoint/hugging_face.h"

namespace torus {
namespace {

// A folder says by its configuration what its weights were trained in.
void CheckConfig(const ModelSpec& model, const nlohmann::json& ours, const std::string& weights) {
  const TransformersConfig& rules = model.transformers;
  if (rules.model_type.empty() || !std::filesystem::is_directory(weights)) return;
  RequireSameFunction(rules.complete(ReadHuggingFaceConfig(weights), weights), ours,
                      rules.may_differ, rules.activation, weights);
}

}  // namespace

std::shared_ptr<nn::Sequential> BuildModel(const ModelSpec& model, int64_t outputs, uint64_t seed,
                                           const std::string& weights, BodyNotes* notes) {
  const nlohmann::json config = model.Config(outputs);
  CheckConfig(model, config, weights);
  const auto built = model.build(config, model.name, {.head_in_loss = true});
  built->Initialize(seed);
  if (weights.empty()) return built;
  if (notes == nullptr)
    LoadWeights(*built, weights, model.names);
  else
    *notes = LoadBody(*built, weights, model.names);
  return built;
}

nlohmann::json TransformersConfigOf(const ModelSpec& model, int64_t outputs) {
  return model.transformers.model_type.empty() ? nlohmann::json() : model.Config(outputs);
}

}  // namespace torus
