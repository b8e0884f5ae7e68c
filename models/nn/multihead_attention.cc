#include "models/nn/multihead_attention.h"

#include <limits>

#include "ops/elementwise/cast.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/select.h"
#include "ops/matmul/linear.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

constexpr const char* kOp = "multihead_attention";

bool IsAdded(const Variable& mask) { return mask.defined() && IsFloating(mask.dtype()); }

void CheckKind(const char* name, const Variable& mask) {
  Require(!mask.defined() || mask.dtype() == DType::kBool || IsFloating(mask.dtype()), kOp,
          "{} must be bool or floating, got {}", name, mask);
}

// As (1, 1, L, S) or (N, heads, L, S).
Variable SpreadMask(const Variable& mask, const Shape& scores) {
  if (!mask.defined()) return {};
  const Shape pairs{scores[2], scores[3]}, all{scores[0] * scores[1], scores[2], scores[3]};
  Require(mask.shape() == pairs || mask.shape() == all, kOp,
          "attn_mask must have shape {} or {}, got {}", pairs, all, mask.shape());
  return ops::Reshape(mask, mask.rank() == 2 ? Shape{1, 1, scores[2], scores[3]} : scores);
}

// As (N, 1, 1, S).
Variable SpreadPadding(const Variable& mask, const Shape& scores) {
  if (!mask.defined()) return {};
  Require(mask.shape() == Shape({scores[0], scores[3]}), kOp,
          "key_padding_mask must have shape ({}, {}), got {}", scores[0], scores[3], mask.shape());
  return ops::Reshape(mask, {scores[0], 1, 1, scores[3]});
}

// True above the diagonal.
Variable LaterKeys(const Shape& scores, Device device) {
  const Variable ones(Full({scores[2], scores[3]}, 1, DType::kF32, device));
  const Tensor later = ops::Triu(ones, 1).data();
  return Variable(later.To(DType::kBool).View({1, 1, scores[2], scores[3]}));
}

// True where none of the masks is.
Variable Allowed(const std::vector<Variable>& masks) {
  Variable blocked = masks[0];
  for (size_t i = 1; i < masks.size(); ++i) blocked = ops::LogicalOr(blocked, masks[i]);
  return ops::LogicalNot(blocked);
}

// The sum of the masks, a bool one as minus infinity where it is true.
Variable Added(const std::vector<Variable>& masks, DType dtype) {
  Variable sum;
  for (const Variable& mask : masks) {
    const Variable zeros(Zeros(mask.shape(), dtype, mask.data().device()));
    const Variable one =
        IsAdded(mask) ? ops::Cast(mask, dtype)
                      : ops::MaskedFill(zeros, mask, -std::numeric_limits<double>::infinity());
    sum = sum.defined() ? ops::Add(sum, one) : one;
  }
  return sum;
}

}  // namespace

Variable JoinedMask(const AttentionMasks& masks, const Shape& scores) {
  CheckKind("attn_mask", masks.attn_mask);
  CheckKind("key_padding_mask", masks.key_padding_mask);
  std::vector<Variable> all;
  for (const Variable& mask :
       {SpreadMask(masks.attn_mask, scores), SpreadPadding(masks.key_padding_mask, scores)})
    if (mask.defined()) all.push_back(mask);
  if (all.empty()) return {};
  if (masks.is_causal) all.push_back(LaterKeys(scores, all[0].data().device()));
  DType added = DType::kBool;
  for (const Variable& mask : all)
    if (IsAdded(mask) && added != DType::kF64)
      added = mask.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  return added == DType::kBool ? Allowed(all) : Added(all, added);
}

MultiheadAttention::MultiheadAttention(const MultiheadAttentionOptions& o)
    : width_(o.embed_dim),
      plan_{.heads = o.num_heads, .dropout = o.dropout, .dropout_layer = o.dropout_layer} {
  Require(width_ >= 1 && o.num_heads >= 1 && width_ % o.num_heads == 0, kOp,
          "{} heads must divide a positive width, got {}", o.num_heads, width_);
  const int64_t kdim = o.kdim.value_or(width_), vdim = o.vdim.value_or(width_);
  const auto add = [&](const char* name, int64_t out, int64_t in) {
    return AddParameter(name, {out, in}, o.dtype, XavierUniform());
  };
  if (kdim == width_ && vdim == width_) {
    weight_ = add("in_proj_weight", 3 * width_, width_);
  } else {
    q_weight_ = add("q_proj_weight", width_, width_);
    k_weight_ = add("k_proj_weight", width_, kdim);
    v_weight_ = add("v_proj_weight", width_, vdim);
  }
  if (o.bias) bias_ = AddParameter("in_proj_bias", {3 * width_}, o.dtype, Constant(0));
  out_ = AddChild("out_proj", std::make_shared<Linear>(LinearOptions{.in = width_,
                                                                     .out = width_,
                                                                     .bias_init = Constant(0),
                                                                     .bias = o.bias,
                                                                     .dtype = o.dtype}));
}

Variable MultiheadAttention::BiasOf(int64_t first, int64_t count) const {
  return bias_.defined() ? ops::Narrow(bias_, 0, first * width_, count * width_) : Variable();
}

Variable MultiheadAttention::WeightOf(int64_t first, int64_t count) const {
  if (weight_.defined()) return ops::Narrow(weight_, 0, first * width_, count * width_);
  return first == 0 ? q_weight_ : first == 1 ? k_weight_ : v_weight_;
}

std::vector<Variable> MultiheadAttention::Projections(const Variable& query, const Variable& key,
                                                      const Variable& value) const {
  if (weight_.defined() && query == key && key == value)
    return ops::Split(ops::Linear(query, weight_, bias_), width_, -1);
  const auto of = [&](const Variable& x, int64_t first, int64_t count) {
    return ops::Linear(x, WeightOf(first, count), BiasOf(first, count));
  };
  if (!weight_.defined() || key != value) return {of(query, 0, 1), of(key, 1, 1), of(value, 2, 1)};
  const std::vector<Variable> both = ops::Split(of(key, 1, 2), width_, -1);
  return {of(query, 0, 1), both[0], both[1]};
}

Variable MultiheadAttention::Attend(const Variable& query, const Variable& key,
                                    const Variable& value, const AttentionMasks& masks,
                                    const StepContext& ctx) {
  Require(query.rank() == 3 && key.rank() == 3 && value.rank() == 3 && key.dim(0) == query.dim(0) &&
              value.dim(0) == query.dim(0) && key.dim(1) == value.dim(1),
          kOp, "needs query (N, L, E), key and value (N, S, ...), got {}, {} and {}", query.shape(),
          key.shape(), value.shape());
  RequireValues(kOp, query);
  const Variable mask = JoinedMask(masks, {query.dim(0), plan_.heads, query.dim(1), key.dim(1)});
  AttentionPlan plan = plan_;
  plan.causal = masks.is_causal && !mask.defined();
  const std::vector<Variable> qkv = Projections(query, key, value);
  return out_->Forward(MultiheadDotProductAttention(qkv[0], qkv[1], qkv[2], mask, plan, ctx), ctx);
}

Variable MultiheadAttention::Forward(const Variable& x, const StepContext& ctx) {
  return Attend(x, x, x, {}, ctx);
}

}  // namespace torus::nn
