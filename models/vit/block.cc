#include "models/vit/block.h"

#include "ops/activation/activation.h"
#include "ops/matmul/linear.h"
#include "ops/view/join.h"

namespace torus {

VitBlock::VitBlock(const VitOptions& o, uint64_t dropout_layer)
    : width_(o.hidden_dim),
      plan_{.heads = o.num_heads, .dropout = o.attention_dropout, .dropout_layer = dropout_layer},
      attention_dropout_(o.dropout, dropout_layer + 1),
      inner_dropout_(o.dropout, dropout_layer + 2),
      mlp_dropout_(o.dropout, dropout_layer + 3) {
  const auto norm = [&](const char* name) {
    return AddChild(name, std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{
                              .width = width_, .eps = kNormEps, .dtype = o.dtype}));
  };
  const auto linear = [&](const char* name, int64_t in, int64_t out, const nn::Initializer& weight,
                          const nn::Initializer& bias) {
    return AddChild(
        name,
        std::make_shared<nn::Linear>(nn::LinearOptions{
            .in = in, .out = out, .weight_init = weight, .bias_init = bias, .dtype = o.dtype}));
  };
  const auto of_mlp = [&](const char* name, int64_t in, int64_t out) {
    return linear(name, in, out, nn::XavierUniform(), nn::Normal(0, 1e-6));
  };
  attention_norm_ = norm("ln_1");
  in_weight_ = AddParameter("self_attention.in_proj_weight", {3 * width_, width_}, o.dtype,
                            nn::XavierUniform());
  in_bias_ = AddParameter("self_attention.in_proj_bias", {3 * width_}, o.dtype, nn::Constant(0));
  attended_ = linear("self_attention.out_proj", width_, width_, {}, nn::Constant(0));
  mlp_norm_ = norm("ln_2");
  wide_ = of_mlp("mlp.0", width_, o.mlp_dim);
  narrow_ = of_mlp("mlp.3", o.mlp_dim, width_);
}

Variable VitBlock::Attend(const Variable& x, const StepContext& ctx) {
  const Variable read = attention_norm_->Forward(x, ctx);
  const std::vector<Variable> qkv = ops::Split(ops::Linear(read, in_weight_, in_bias_), width_, -1);
  const Variable y = nn::MultiheadDotProductAttention(qkv[0], qkv[1], qkv[2], {}, plan_, ctx);
  return attended_->ForwardAdd(y, x, attention_dropout_, ctx);
}

Variable VitBlock::Forward(const Variable& x, const StepContext& ctx) {
  const Variable attended = Attend(x, ctx);
  const Variable inner = ops::Gelu(wide_->Forward(mlp_norm_->Forward(attended, ctx), ctx));
  return narrow_->ForwardAdd(inner_dropout_.Forward(inner, ctx), attended, mlp_dropout_, ctx);
}

}  // namespace torus
