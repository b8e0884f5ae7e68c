#include "models/vit/head.h"

#include <cmath>

#include "ops/activation/activation.h"
#include "ops/view/view.h"

namespace torus {

VitHead::VitHead(const VitOptions& o) {
  const auto linear = [&](const char* name, int64_t in, int64_t out, double stddev) {
    return AddChild(
        name, std::make_shared<nn::Linear>(nn::LinearOptions{.in = in,
                                                             .out = out,
                                                             .weight_init = nn::Normal(0, stddev),
                                                             .bias_init = nn::Constant(0),
                                                             .dtype = o.dtype}));
  };
  const int64_t width = o.hidden_dim;
  if (o.representation_size)
    representation_ = linear("pre_logits", width, *o.representation_size,
                             1 / std::sqrt(static_cast<double>(width)));
  head_ = linear("head", o.representation_size.value_or(width), o.num_classes, 0);
}

Variable VitHead::Forward(const Variable& x, const StepContext& ctx) {
  Variable first = ops::Squeeze(ops::Narrow(x, 1, 0, 1), {1});
  if (representation_ != nullptr) first = ops::Tanh(representation_->Forward(first, ctx));
  return head_->Forward(first, ctx);
}

}  // namespace torus
