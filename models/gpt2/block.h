// A block of GPT-2: attention and a two-layer MLP, each after a layer norm and with a residual
// connection.
#pragma once

#include <memory>
#include <vector>

#include "models/gpt2/gpt2.h"
#include "models/gpt2/gpt2_linear.h"
#include "models/nn/activation.h"
#include "models/nn/attention_heads.h"
#include "models/nn/cached_attention.h"
#include "models/nn/dropout.h"
#include "models/nn/kv_cache.h"
#include "models/nn/layer_norm.h"

namespace torus {

// Children "ln_1", "attn.c_attn" (queries, keys and values side by side), "attn.c_proj", "ln_2",
// "mlp.c_fc" and "mlp.c_proj". Tensor-parallel ranks divide the heads and the MLP's inner width
// among them; a forward and a backward each take two sums over the ranks (Shoeybi et al. 2019,
// figure 3).
class Gpt2Block : public nn::Module, public nn::CachedLayer {
 public:
  // `number` counts blocks from 0. Uses the dropout layer numbers dropout_layer to dropout_layer +
  // 2.
  Gpt2Block(const Gpt2Options& options, int64_t number, uint64_t dropout_layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Takes {activation} or {activation, mask (N, 1, T, T)}. The mask is true where a token may
  // attend to another; it must exclude later tokens too.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

  Variable Extend(const Variable& x, nn::KvCache& cache) override;
  int64_t cache_width() const override { return width_; }

  static constexpr uint64_t kDropoutLayers = 3;

 private:
  void OnSplit(const TensorPlace& place) override;
  Variable Run(const Variable& x, const Variable& mask, const StepContext& ctx);
  // The attention to x, added to the residual.
  Variable Attend(const Variable& x, const Variable& mask, const Variable& residual,
                  const StepContext& ctx);
  Variable AttendCached(const Variable& x, nn::KvCache& cache, const StepContext& ctx);
  Variable Mlp(const Variable& attended, const StepContext& ctx);

  int64_t width_;  // of this rank's heads
  nn::AttentionPlan plan_;
  nn::ActivationFn activation_;
  std::shared_ptr<nn::LayerNorm> attention_norm_, mlp_norm_;
  std::shared_ptr<Gpt2Linear> qkv_, attended_, wide_, narrow_;
  nn::Dropout attention_dropout_, mlp_dropout_;
};

}  // namespace torus
