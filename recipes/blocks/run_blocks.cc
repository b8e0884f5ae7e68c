#include "recipes/blocks/run_blocks.h"

#include "models/build_model.h"
#include "recipes/blocks/layer_list.h"
#include "recipes/model/model_blocks.h"
#include "recipes/model/model_of.h"

namespace torus::recipes {
namespace {

Shape InputOf(const Settings& settings, const DataForm& form) {
  return form.inputs(LargestMicroBatch(settings)).front().shape;
}

}  // namespace

std::vector<nn::LayerSummary> DescribeLayers(const Settings& settings, const DataForm& form) {
  const ModelSpec model = ModelOf(settings);
  return nn::Describe(*model.build(model.Config(form.classes), model.name, {}),
                      InputOf(settings, form));
}

std::vector<parallel::Block> RunBlocks(const Settings& settings, const DataForm& form,
                                       const std::string& weights_file, BodyNotes* notes) {
  const auto model =
      BuildModel(ModelOf(settings), form.classes, settings.seed, weights_file, notes);
  std::vector<parallel::Block> blocks = ModelBlocks(model, InputOf(settings, form));
  const std::vector<bool> recomputed =
      ParseLayerList("--recompute", settings.recompute, static_cast<int>(blocks.size()));
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].recompute = recomputed[i];
    blocks[i].activation_storage =
        settings.activation_storage == "bf16" ? DType::kBF16 : DType::kF32;
  }
  return blocks;
}

}  // namespace torus::recipes
