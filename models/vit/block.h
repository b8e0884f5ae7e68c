// A block of the Vision Transformer: attention and a two-layer MLP, each after a layer norm and
// with a residual connection.
#pragma once

#include <memory>

#include "models/nn/attention_heads.h"
#include "models/nn/dropout.h"
#include "models/nn/layer_norm.h"
#include "models/nn/linear.h"
#include "models/vit/vit.h"

namespace torus {

// Children "ln_1", "self_attention.out_proj", "ln_2", "mlp.0" and "mlp.3"; parameters
// "self_attention.in_proj_weight" (3 width, width) and "self_attention.in_proj_bias", of queries,
// keys and values one after another.
class VitBlock : public nn::Module {
 public:
  // Uses the dropout layer numbers dropout_layer to dropout_layer + 3.
  VitBlock(const VitOptions& options, uint64_t dropout_layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

  static constexpr uint64_t kDropoutLayers = 4;
  static constexpr double kNormEps = 1e-6;

 private:
  Variable Attend(const Variable& x, const StepContext& ctx);

  int64_t width_;
  nn::AttentionPlan plan_;
  Variable in_weight_, in_bias_;
  std::shared_ptr<nn::LayerNorm> attention_norm_, mlp_norm_;
  std::shared_ptr<nn::Linear> attended_, wide_, narrow_;
  nn::Dropout attention_dropout_, inner_dropout_, mlp_dropout_;
};

}  // namespace torus
