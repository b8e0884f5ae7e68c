#include "recipes/blocks/cut_bytes.h"

namespace torus::recipes {

double CutBytes(const nn::LayerCost& layer, const parallel::Codec* codec) {
  const auto bytes = static_cast<double>(layer.output_bytes);
  if (codec == nullptr) return bytes;
  const auto activation = static_cast<double>(Numel(layer.output)) * sizeof(float);
  return bytes - activation + static_cast<double>(codec->MaxTensorBytes(layer.output));
}

}  // namespace torus::recipes
