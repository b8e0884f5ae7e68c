#include "models/build_model.h"

#include <filesystem>

#include "models/checkpoint/config_match.h"
#include "models/checkpoint/hugging_face.h"
#include "runtime/io/one_commit.h"

namespace torus {
namespace {

// Checks a folder's config.json: the weights must have been trained for the same function.
void CheckConfig(const ModelSpec& model, const nlohmann::json& ours, const std::string& weights) {
  const TransformersConfig& rules = model.transformers;
  if (rules.model_type.empty() || !std::filesystem::is_directory(weights)) return;
  RequireSameFunction(rules.complete(ReadHuggingFaceConfig(weights), weights), ours,
                      rules.may_differ, rules.activation, weights);
}

}  // namespace

std::shared_ptr<nn::Sequential> BuildModel(const ModelSpec& model, int64_t outputs, uint64_t seed,
                                           const WeightsSource& weights, BodyNotes* notes,
                                           TakenWeights* taken) {
  const nlohmann::json config = model.Config(outputs);
  const auto built = model.build(config, model.name, {.head_in_loss = true});
  built->Initialize(seed);
  if (weights.file.empty()) return built;
  const BodyNotes read = io::OpenOneCommit(weights.file, [&](const std::string& path) {
    CheckConfig(model, config, path);
    const WeightsSource source(path, weights.part);
    if (notes != nullptr) return LoadBody(*built, source, model.names);
    return BodyNotes{.taken = LoadWeights(*built, source, model.names)};
  });
  if (notes != nullptr) *notes = read;
  if (taken != nullptr) *taken = read.taken;
  return built;
}

nlohmann::json TransformersConfigOf(const ModelSpec& model, int64_t outputs) {
  return model.transformers.model_type.empty() ? nlohmann::json() : model.Config(outputs);
}

}  // namespace torus
