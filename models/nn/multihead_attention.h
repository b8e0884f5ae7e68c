// MultiheadAttention: attention with its projections (Vaswani et al. 2017, section 3.2.2), as
// torch.nn.MultiheadAttention with batch_first. attention_heads.h has the part without them.
#pragma once

#include <optional>

#include "models/nn/attention_heads.h"
#include "models/nn/linear.h"

namespace torus::nn {

// Defaults are torch.nn.MultiheadAttention's. Members without a comment are its arguments; dtype is
// that of the parameters.
struct MultiheadAttentionOptions {
  int64_t embed_dim = 0, num_heads = 1;  // the heads divide the width
  double dropout = 0;                    // of the attention weights, in training
  bool bias = true;
  // Widths of key and value; embed_dim unless given.
  std::optional<int64_t> kdim = {}, vdim = {};
  uint64_t dropout_layer = 0;  // the number of its dropout (dropout.h)
  DType dtype = DType::kF32;
};

// What keeps queries from keys. As in PyTorch, and other than in ops/attention, a bool mask is true
// where a query may NOT attend to a key; a floating one is added to the scores.
struct AttentionMasks {
  Variable attn_mask = {};         // (L, S) or (N num_heads, L, S)
  Variable key_padding_mask = {};  // (N, S)
  bool is_causal = false;          // also: query i attends to keys 0 to i alone
};

// The masks as MultiheadDotProductAttention takes one: undefined, bool and true where a query may
// attend, or added to the scores; it broadcasts to (N, num_heads, L, S). The causal part alone
// gives undefined. Throws BadInput tagged multihead_attention for other shapes and dtypes.
Variable JoinedMask(const AttentionMasks& masks, const Shape& scores);

// Parameters: in_proj_weight (3 embed_dim, embed_dim), of query, key and value, or q_proj_weight,
// k_proj_weight and v_proj_weight if kdim or vdim is another width; in_proj_bias (3 embed_dim);
// out_proj.weight and out_proj.bias. Initial values are PyTorch's: Xavier-uniform projections,
// out_proj.weight within 1 / sqrt(embed_dim) of zero, zero biases.
class MultiheadAttention : public Module {
 public:
  // Throws BadInput unless num_heads divides embed_dim.
  explicit MultiheadAttention(const MultiheadAttentionOptions& options);

  // query (N, L, embed_dim), key (N, S, kdim), value (N, S, vdim); the result has query's shape. A
  // query that may attend to no key gets out_proj's bias. The projections of equal arguments (one
  // Variable) are one product.
  Variable Attend(const Variable& query, const Variable& key, const Variable& value,
                  const AttentionMasks& masks, const StepContext& ctx);
  // Self-attention without masks.
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  std::vector<Variable> Projections(const Variable& query, const Variable& key,
                                    const Variable& value) const;
  // Rows [first, first + count) embed_dim of in_proj_bias; undefined without.
  Variable BiasOf(int64_t first, int64_t count) const;
  Variable WeightOf(int64_t first, int64_t count) const;

  int64_t width_;
  AttentionPlan plan_;
  Variable weight_, q_weight_, k_weight_, v_weight_, bias_;
  std::shared_ptr<Linear> out_;
};

}  // namespace torus::nn
