#include "recipes/blocks/build_blocks.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/text/glue.h"
#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "recipes/blocks/layer_list.h"
#include "recipes/data/data_names.h"
#include "recipes/model/model_blocks.h"
#include "recipes/model/model_of.h"
#include "recipes/model/output_order.h"
#include "runtime/error.h"
#include "runtime/io/one_commit.h"

namespace torus::recipes {
namespace {

// The inputs of the largest micro-batch, on the device meta.
std::vector<Variable> InputsOf(const Settings& settings, const DataForm& form) {
  std::vector<Variable> inputs;
  for (const parallel::TensorSpec& spec : form.inputs(LargestMicroBatch(settings)))
    inputs.push_back(Variable(Empty(spec.shape, spec.dtype, kMetaDevice)));
  return inputs;
}

bool HasBatchNorm(const std::vector<parallel::Block>& blocks) {
  for (const parallel::Block& block : blocks)
    for (const NamedTensor& buffer : block.buffers)
      if (buffer.name.ends_with("running_mean")) return true;
  return false;
}

bool CanSplit(const std::vector<parallel::Block>& blocks) {
  return std::ranges::any_of(blocks, [](const auto& block) { return !block.splits.empty(); });
}

// A classifier whose outputs stand for the task's classes in another order would start from a head
// that is wrong in every example, and be evaluated so.
void CheckOutputs(const Settings& settings, const std::string& folder) {
  if (!std::filesystem::is_directory(folder) || DataKind(settings.data) != "sentences") return;
  const std::vector<std::string> classes = data::GlueClasses(settings.data);
  const nlohmann::json config = io::OpenOneCommit(folder, [](const std::string& path) {
    const bool there = std::filesystem::exists(path + "/config.json");
    return there ? ReadHuggingFaceConfig(path) : nlohmann::json();
  });
  Require(IsInOrder(OutputOrder(config, classes, folder)), folder,
          "config.json's id2label has the classes of --data {} in another order than {}: "
          "evaluate maps them, train takes them as they are",
          settings.data, fmt::join(classes, ", "));
}

}  // namespace

std::vector<nn::LayerSummary> DescribeLayers(const Settings& settings, const DataForm& form) {
  const ModelSpec model = ModelOf(settings);
  return nn::Describe(*model.build(model.Config(form.classes), model.name, {}),
                      InputsOf(settings, form));
}

std::vector<parallel::Block> BuildBlocks(const Settings& settings, const DataForm& form,
                                         const WeightsSource& weights, BodyNotes* notes,
                                         TakenWeights* taken) {
  CheckOutputs(settings, weights.file);
  const auto model =
      BuildModel(ModelOf(settings), form.classes, settings.seed, weights, notes, taken);
  std::vector<parallel::Block> blocks = ModelBlocks(*model, DescribeLayers(settings, form));
  Require(!settings.sync_batch_norm || HasBatchNorm(blocks), "train",
          "--sync-batch-norm needs a model with batch norm, got --model {}", settings.model);
  Require(settings.tensor == 1 || CanSplit(blocks), "train",
          "--tensor {} splits the blocks of RoBERTa, GPT and Llama, got --model {}",
          settings.tensor, settings.model);
  const std::vector<bool> recomputed =
      ParseLayerList("--recompute", settings.recompute, static_cast<int>(blocks.size()));
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].recompute = recomputed[i];
    blocks[i].activation_storage =
        settings.activation_storage == "bf16" ? DType::kBF16 : DType::kF32;
    blocks[i].precision = PrecisionOf(settings);
  }
  return blocks;
}

}  // namespace torus::recipes
