#include "tools/train/export_model.h"

#include <map>
#include <nlohmann/json.hpp>

#include "data/text/tokenizer_files.h"
#include "models/checkpoint/hugging_face.h"
#include "tools/train/model_spec.h"

namespace torus::tools {
namespace {

std::vector<NamedTensor> AveragedWeights(const parallel::TrainState& state) {
  std::map<std::string, Tensor> averages;
  for (const NamedTensor& average : state.averages) averages[average.name] = average.value;
  std::vector<NamedTensor> weights = state.weights;
  for (NamedTensor& weight : weights)
    if (const auto found = averages.find(weight.name); found != averages.end())
      weight.value = found->second;
  return weights;
}

}  // namespace

bool ExportModel(const Task& task, const parallel::Trainer& trainer, const std::string& folder) {
  const Settings& settings = task.settings();
  const nlohmann::json config = ModelConfig(settings.model, task.data().form.classes);
  if (config.is_null()) return false;
  WriteHuggingFace(folder,
                   {.config = config,
                    .tensors = AveragedWeights(trainer.State()),
                    .files = data::TokenizerFiles(*task.data().tokenizer, settings.vocab_dir)});
  return true;
}

}  // namespace torus::tools
