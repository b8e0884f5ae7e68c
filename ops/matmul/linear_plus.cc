#include "ops/matmul/linear_plus.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/kernels.h"
#include "ops/matmul/linear.h"
#include "ops/precision/native.h"
#include "runtime/dispatch.h"

namespace torus::ops {
namespace {

// x is low.
Variable PlusOf(const Variable& x, const Variable& weight, const Variable& bias,
                const Variable& residual, WeightLayout layout) {
  const Tensor rows = Rows(x.data()), w = LowValues(weight).Contiguous();
  Tensor out(residual.shape(), residual.dtype(), residual.data().device());
  Tensor out_rows = Rows(out);
  kernels::ProductPlus(rows, w, layout == WeightLayout::kOutIn, BiasFor(residual, bias),
                       Rows(residual.data()), out_rows);
  return Record("linear", std::move(out), {x, weight, bias, residual},
                [rows = SavedActivation(weight.requires_grad() ? rows : Tensor()),
                 w = Saved(x.requires_grad() ? w : Tensor()), shape = x.shape(), layout,
                 low = x.dtype(), types = TypesOf(weight, bias)](const GradContext& g) {
                  Gradients gradients(4);
                  if (g.wants(3)) gradients[3] = g.grad();
                  if (!g.wants(0) && !g.wants(1) && !g.wants(2)) return gradients;
                  const Tensor dy = Rows(g.grad()).To(low);
                  if (g.wants(0)) gradients[0] = AffineInputGradient(g, dy, w.get(), layout, shape);
                  const Tensor kept = g.wants(1) ? rows.get() : Tensor();
                  const AffineGradients own =
                      AffineWeightGradients(dy, kept, layout, types, g.wants(1), g.wants(2));
                  gradients[1] = own.weight;
                  gradients[2] = own.bias;
                  return gradients;
                });
}

}  // namespace

bool AddsInProduct(const Variable& input, const Shape& shape, const Variable& residual) {
  const Device device = input.data().device();
  return device.kind == DeviceKind::kCuda && residual.data().device() == device &&
         residual.shape() == shape &&
         (residual.dtype() == DType::kF32 || residual.dtype() == WithPrecision::Current());
}

Tensor BiasFor(const Variable& residual, const Variable& bias) {
  if (!bias.defined() || residual.dtype() != DType::kF32) return LowBias(bias);
  return bias.data().To(DType::kF32).Contiguous();
}

Variable LinearPlus(const Variable& input, const Variable& weight, const Variable& bias,
                    const Variable& residual, WeightLayout layout) {
  const Shape shape = AffineShape("linear", input.shape(), weight, bias, layout);
  if (ComputesNatively("linear", input, weight, bias) && AddsInProduct(input, shape, residual))
    return PlusOf(ToLow(input), weight, bias, residual, layout);
  const auto linear = layout == WeightLayout::kOutIn ? Linear : LinearInOut;
  return Add(linear(input, weight, bias), residual);
}

}  // namespace torus::ops
