// A block of Llama: attention with rotary positions and a gated MLP, each after a norm and with a
// residual connection.
#pragma once

#include <memory>
#include <vector>

#include "models/llama/llama.h"
#include "models/nn/activation.h"
#include "models/nn/attention_heads.h"
#include "models/nn/cached_attention.h"
#include "models/nn/kv_cache.h"
#include "models/nn/linear.h"
#include "models/nn/rms_norm.h"

namespace torus {

// Children "input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
// "self_attn.o_proj", "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj" and
// "mlp.down_proj". Tensor-parallel ranks divide the heads, those of keys too, and the MLP's inner
// width among them, as GPT-2's.
class LlamaBlock : public nn::Module, public nn::CachedLayer {
 public:
  // Uses the dropout layer number dropout_layer.
  LlamaBlock(const LlamaOptions& options, uint64_t dropout_layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Takes {activation} or {activation, mask (N, 1, T, T)}. The mask is true where a token may
  // attend to another; it must exclude later tokens too.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

  Variable Extend(const Variable& x, nn::KvCache& cache) override;
  int64_t cache_width() const override;

 private:
  void OnSplit(const TensorPlace& place) override;
  Variable Run(const Variable& x, const Variable& mask, const StepContext& ctx);
  // (N, T, heads x width) each, query and key turned by their positions.
  nn::QueryKeyValue Project(const Variable& x, int64_t first, const StepContext& ctx);
  Variable Turned(const Variable& heads, int64_t first) const;
  Variable Mlp(const Variable& attended, const StepContext& ctx);

  nn::AttentionPlan plan_;
  int64_t head_width_;
  ops::RotaryFrequencies rope_;
  nn::ActivationFn activation_;
  std::shared_ptr<nn::RmsNorm> attention_norm_, mlp_norm_;
  std::shared_ptr<nn::Linear> query_, key_, value_, attended_, gate_, up_, down_;
};

}  // namespace torus
