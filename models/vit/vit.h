// The Vision Transformer (Dosovitskiy et al. 2021, arXiv:2010.11929) with the names, arguments and
// initialization of torchvision's VisionTransformer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "models/nn/sequential.h"

namespace torus {

// The arguments of torchvision's constructor. The defaults are those of ViT-B/16. Members without a
// comment are those arguments; dtype is that of the parameters.
struct VitOptions {
  int64_t image_size = 224;
  int64_t patch_size = 16;
  int64_t num_layers = 12;
  int64_t num_heads = 12;
  int64_t hidden_dim = 768;
  int64_t mlp_dim = 3072;
  double dropout = 0, attention_dropout = 0;
  int64_t num_classes = 1000;
  // Of a layer with tanh in front of the classifier.
  std::optional<int64_t> representation_size = {};
  DType dtype = DType::kF32;
};

// The small one, ViT-S/16: width 384, 6 heads, an MLP of 1536.
VitOptions VitSmall16();

// Maps images (N, image_size, image_size, 3) to logits (N, num_classes).
//
// Its layers are the embeddings of patches ("conv_proj", "class_token", "encoder.pos_embedding"),
// the blocks "encoder.layers.encoder_layer_0" ..., "encoder.ln" and "heads". Throws BadInput for
// invalid options, and for images of another size.
std::shared_ptr<nn::Sequential> Vit(const VitOptions& options = {});

}  // namespace torus
