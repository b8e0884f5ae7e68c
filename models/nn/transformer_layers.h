// Layers of transformer encoders and decoders (Vaswani et al. 2017, section 3.1), as
// torch.nn.TransformerEncoderLayer and TransformerDecoderLayer with batch_first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/nn/activation.h"
#include "models/nn/dropout.h"
#include "models/nn/layer_norm.h"
#include "models/nn/multihead_attention.h"

namespace torus::nn {

// Defaults are torch.nn.TransformerEncoderLayer's. Members without a comment are its arguments;
// dtype is that of the parameters.
struct TransformerLayerOptions {
  int64_t d_model = 0, nhead = 1;
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";  // a name of activation.h
  double layer_norm_eps = 1e-5;
  // Norms before attention and MLP (Xiong et al. 2020), not after the sums.
  bool norm_first = false;
  bool bias = true;
  uint64_t dropout_layer = 0;  // the number of the first of its dropouts (dropout.h)
  DType dtype = DType::kF32;
};

// What the two layers share: residual connections with norms, and the MLP.
class TransformerLayer : public Module {
 protected:
  explicit TransformerLayer(const TransformerLayerOptions& options);
  // A child of that name; `dropout` is the number of its dropout, from dropout_layer on.
  std::shared_ptr<MultiheadAttention> AddAttention(const char* name, uint64_t dropout);
  // A child of that name, over d_model.
  std::shared_ptr<LayerNorm> AddNorm(const char* name);
  // Children linear1 and linear2; `dropout` is that between them.
  void AddMlp(uint64_t dropout);

  // What linear2 gives of the activation of linear1, with dropout between.
  Variable Mlp(const Variable& x, const StepContext& ctx);
  // x + dropout(f(norm(x))) with norm_first, else norm(x + dropout(f(x))).
  template <class F>
  Variable Residual(const Variable& x, LayerNorm& norm, const Dropout& dropout,
                    const StepContext& ctx, const F& f) {
    if (options_.norm_first) return dropout.ForwardAdd(f(norm.Forward(x, ctx)), x, ctx);
    return norm.Forward(dropout.ForwardAdd(f(x), x, ctx), ctx);
  }

 private:
  TransformerLayerOptions options_;
  ActivationFn activation_;
  std::shared_ptr<Linear> wide_, narrow_;
  std::unique_ptr<Dropout> inner_dropout_;
};

// Children self_attn, linear1, linear2, norm1 and norm2.
class TransformerEncoderLayer : public TransformerLayer {
 public:
  static constexpr uint64_t kDropoutLayers = 4;  // numbers of dropouts that it uses
  explicit TransformerEncoderLayer(const TransformerLayerOptions& options);
  // src (N, S, d_model); masks (N nhead, S, S) and (N, S). The result has src's shape.
  Variable Encode(const Variable& src, const AttentionMasks& masks, const StepContext& ctx);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // {src} or {src, key_padding_mask}; the mask goes on to the next layer.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  std::shared_ptr<MultiheadAttention> attention_;
  std::shared_ptr<LayerNorm> attention_norm_, mlp_norm_;
  Dropout attention_dropout_, mlp_dropout_;
};

// Children self_attn, multihead_attn, linear1, linear2, norm1, norm2 and norm3.
class TransformerDecoderLayer : public TransformerLayer {
 public:
  static constexpr uint64_t kDropoutLayers = 6;  // numbers of dropouts that it uses
  explicit TransformerDecoderLayer(const TransformerLayerOptions& options);
  // tgt (N, T, d_model), memory (N, S, d_model), the encoder's result. tgt_masks are those of
  // self-attention, memory_masks of the attention to memory. The result has tgt's shape.
  Variable Decode(const Variable& tgt, const Variable& memory, const AttentionMasks& tgt_masks,
                  const AttentionMasks& memory_masks, const StepContext& ctx);
  // Throws BadInput: it needs the memory.
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // {tgt, memory}, with causal self-attention; the memory goes on to the next layer.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  std::shared_ptr<MultiheadAttention> self_, cross_;
  std::shared_ptr<LayerNorm> self_norm_, cross_norm_, mlp_norm_;
  Dropout self_dropout_, cross_dropout_, mlp_dropout_;
};

}  // namespace torus::nn
