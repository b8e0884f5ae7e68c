// The first layer of the Vision Transformer: embeddings of patches and positions.
#pragma once

#include <memory>

#include "models/nn/conv2d.h"
#include "models/nn/dropout.h"
#include "models/vit/vit.h"

namespace torus {

// Child "conv_proj"; parameters "class_token" (1, 1, hidden_dim), zeros, and
// "encoder.pos_embedding" (1, tokens, hidden_dim), normal. Maps images to (N, tokens, hidden_dim),
// where the tokens are one for the class and then the patches, row by row.
class VitPatches : public nn::Module {
 public:
  VitPatches(const VitOptions& options, uint64_t dropout_layer);
  Variable Forward(const Variable& images, const StepContext& ctx) override;

 private:
  int64_t image_size_, width_;
  std::shared_ptr<nn::Conv2d> projection_;
  Variable class_token_, positions_;
  nn::Dropout dropout_;
};

}  // namespace torus
