#include "models/vit/vit.h"

#include "models/nn/layer_norm.h"
#include "models/vit/block.h"
#include "models/vit/head.h"
#include "models/vit/patches.h"
#include "runtime/error.h"

namespace torus {
namespace {

void Check(const VitOptions& o) {
  Require(o.patch_size >= 1 && o.image_size >= 1 && o.image_size % o.patch_size == 0, "vit",
          "patch_size must divide image_size, got {} and {}", o.patch_size, o.image_size);
  Require(o.num_heads >= 1 && o.hidden_dim >= 1 && o.hidden_dim % o.num_heads == 0, "vit",
          "num_heads must divide hidden_dim, got {} and {}", o.num_heads, o.hidden_dim);
  Require(o.num_layers >= 0, "vit", "num_layers must be at least 0, got {}", o.num_layers);
}

}  // namespace

VitOptions VitSmall16() { return {.num_heads = 6, .hidden_dim = 384, .mlp_dim = 1536}; }

std::shared_ptr<nn::Sequential> Vit(const VitOptions& o) {
  Check(o);
  auto model = std::make_shared<nn::Sequential>();
  uint64_t dropout = 0;
  model->Add("", std::make_shared<VitPatches>(o, dropout++), "conv_proj");
  for (int64_t i = 0; i < o.num_layers; ++i, dropout += VitBlock::kDropoutLayers)
    model->Add(fmt::format("encoder.layers.encoder_layer_{}", i),
               std::make_shared<VitBlock>(o, dropout));
  model->Add("encoder.ln",
             std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{
                 .width = o.hidden_dim, .eps = VitBlock::kNormEps, .dtype = o.dtype}));
  model->Add("heads", std::make_shared<VitHead>(o));
  return model;
}

}  // namespace torus
