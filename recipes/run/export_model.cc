#include "recipes/run/export_model.h"

#include <nlohmann/json.hpp>

#include "data/text/tokenizer_files.h"
#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "recipes/model/model_of.h"
#include "recipes/model/trained_length.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/replaced_file.h"
#include "runtime/io/safetensors.h"

namespace torus::recipes {
namespace {

// Buffers have no averages; those of the run are used, as in an evaluation of averages.
std::vector<NamedTensor> AveragedWeights(const io::CheckpointReader& checkpoint) {
  std::vector<NamedTensor> weights;
  for (const auto& [name, entry] : checkpoint.entries(io::kWeights)) {
    const bool averaged = checkpoint.entries(io::kAverages).contains(name);
    weights.push_back({name, checkpoint.Read(averaged ? io::kAverages : io::kWeights, name)});
  }
  return weights;
}

// The tokens around a text, in a configuration that has keys for them.
void NameEnds(const data::Tokenizer& tokenizer, nlohmann::json& config) {
  const std::vector<int32_t> beginning = tokenizer.beginning();
  const int32_t end = tokenizer.end_of_text();
  if (config.contains("bos_token_id") && !beginning.empty())
    config["bos_token_id"] = beginning.front();
  if (config.contains("eos_token_id") && end >= 0) config["eos_token_id"] = end;
}

nlohmann::json ConfigOf(const Task& task) {
  nlohmann::json config = TransformersConfigOf(ModelOf(task.settings()), task.data().form.classes);
  if (config.is_null()) return config;
  config[kTrainedLength] = task.settings().length;
  NameEnds(*task.data().tokenizer, config);
  return config;
}

}  // namespace

bool ExportsModel(const Task& task) { return !ConfigOf(task).is_null() || task.settings().ema > 0; }

std::map<std::string, std::string> ModelFiles(const Task& task) {
  const nlohmann::json config = ConfigOf(task);
  if (config.is_null()) return {};
  std::map<std::string, std::string> files =
      data::TokenizerFiles(*task.data().tokenizer, task.settings().vocab_dir);
  files["config.json"] = config.dump(2) + "\n";
  return files;
}

std::string ExportModel(const Task& task, const RunFolder& folder) {
  if (!ExportsModel(task)) return "";
  const nlohmann::json config = ConfigOf(task);
  std::vector<NamedTensor> weights = AveragedWeights(io::CheckpointReader(folder.checkpoint()));
  if (config.is_null()) {
    io::ReplaceFile(folder.averaged_weights(), [&](const std::string& fresh) {
      WriteSafetensors(fresh, weights, {{"format", "pt"}});
    });
    return folder.averaged_weights();
  }
  WriteHuggingFace(folder.model(), {.config = config,
                                    .tensors = std::move(weights),
                                    .files = data::TokenizerFiles(*task.data().tokenizer,
                                                                  task.settings().vocab_dir)});
  return folder.model();
}

}  // namespace torus::recipes
