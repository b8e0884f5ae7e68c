#include "ops/mlp/mlp_rule.h"

#include <utility>

namespace torus::ops {
namespace {

constexpr WeightLayout kLayout = WeightLayout::kInOut;

bool IsOf(const MlpRule::Held& held, const Tensor& dy) {
  return held.dy.defined() && held.dy.storage() == dy.storage() &&
         held.dy.offset() == dy.offset() && held.version == dy.version();
}

}  // namespace

// dL/dz = (dy narrow^T) gelu'(z)
Tensor MlpRule::InnerGradient(const GradContext& g, const Tensor& dy) const {
  const bool asks_weights = g.wants(1) || g.wants(2);
  const Held before = std::exchange(*held, Held());
  Tensor dz = IsOf(before, g.grad()) ? before.dz : Tensor();
  if (!dz.defined()) {
    const Tensor inner = z.get();
    dz = Tensor(inner.shape(), inner.dtype(), inner.device());
    kernels::GeluGradientProduct(dy, narrow.get(), inner, dz);
  }
  if (!asks_weights && inner_trains) *held = {g.grad(), dz, g.grad().version()};
  return dz;
}

Gradients MlpRule::operator()(const GradContext& g) const {
  const bool products = g.wants(0) || g.wants(1) || g.wants(2) || g.wants(3) || g.wants(4);
  Gradients gradients = products ? OfProducts(g) : Gradients(6);
  if (g.wants(5)) gradients[5] = g.grad();
  return gradients;
}

Gradients MlpRule::OfProducts(const GradContext& g) const {
  Gradients gradients(6);
  const Tensor dy = Rows(g.grad()).To(type);
  if (g.wants(0) || g.wants(1) || g.wants(2)) {
    const Tensor dz = InnerGradient(g, dy);
    if (g.wants(0)) gradients[0] = AffineInputGradient(g, dz, wide.get(), kLayout, input);
    const Tensor kept = g.wants(1) ? x.get() : Tensor();
    const AffineGradients own =
        AffineWeightGradients(dz, kept, kLayout, wide_types, g.wants(1), g.wants(2));
    gradients[1] = own.weight;
    gradients[2] = own.bias;
  }
  const Tensor kept = g.wants(3) ? h.get() : Tensor();
  const AffineGradients own =
      AffineWeightGradients(dy, kept, kLayout, narrow_types, g.wants(3), g.wants(4));
  gradients[3] = own.weight;
  gradients[4] = own.bias;
  return gradients;
}

}  // namespace torus::ops
