#include "recipes/run/export_model.h"

#include <map>
#include <nlohmann/json.hpp>

#include "data/text/tokenizer_files.h"
#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "recipes/model/model_of.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/safetensors.h"

namespace torus::recipes {
namespace {

// Buffers have no averages: those of the run, with which averages are evaluated too.
std::vector<NamedTensor> AveragedWeights(const parallel::TrainState& state) {
  std::map<std::string, Tensor> averages;
  for (const NamedTensor& average : state.averages) averages[average.name] = average.value;
  std::vector<NamedTensor> weights = state.weights;
  for (NamedTensor& weight : weights)
    if (const auto found = averages.find(weight.name); found != averages.end())
      weight.value = found->second;
  return weights;
}

nlohmann::json ConfigOf(const Task& task) {
  return TransformersConfigOf(ModelOf(task.settings()), task.data().form.classes);
}

}  // namespace

bool ExportsModel(const Task& task) { return !ConfigOf(task).is_null() || task.settings().ema > 0; }

std::string ExportModel(const Task& task, const parallel::TrainState& state,
                        const RunFolder& folder) {
  const Settings& settings = task.settings();
  const nlohmann::json config = ConfigOf(task);
  if (!ExportsModel(task)) return "";
  std::vector<NamedTensor> weights = AveragedWeights(state);
  if (config.is_null()) {
    for (NamedTensor& weight : weights) weight.value = ToFileLayout(weight.value);
    WriteSafetensors(folder.averaged_weights(), weights, {{"format", "pt"}});
    return folder.averaged_weights();
  }
  WriteHuggingFace(folder.model(),
                   {.config = config,
                    .tensors = std::move(weights),
                    .files = data::TokenizerFiles(*task.data().tokenizer, settings.vocab_dir)});
  return folder.model();
}

}  // namespace torus::recipes
