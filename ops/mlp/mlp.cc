#include "ops/mlp/mlp.h"

#include "autograd/recompute.h"
#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/affine.h"
#include "ops/matmul/kernels.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/linear_plus.h"
#include "ops/mlp/mlp_rule.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"
#include "runtime/dispatch.h"

namespace torus::ops {
namespace {

constexpr WeightLayout kLayout = WeightLayout::kInOut;

// The weights' values in the types that products take.
struct Values {
  Tensor wide, wide_bias, narrow, narrow_bias;
};

Tensor ValuesOf(const Variable& v) { return v.defined() ? v.data().Contiguous() : Tensor(); }

Values ValuesOf(const GeluMlpWeights& w) {
  return {ValuesOf(w.wide), ValuesOf(w.wide_bias), ValuesOf(w.narrow), ValuesOf(w.narrow_bias)};
}

Values LowValuesOf(const GeluMlpWeights& w) {
  const auto bias = [](const Variable& v) {
    return v.defined() ? LowBias(v).Contiguous() : Tensor();
  };
  return {LowValues(w.wide).Contiguous(), bias(w.wide_bias), LowValues(w.narrow).Contiguous(),
          bias(w.narrow_bias)};
}

// Whether to write Z. An evaluation does not. Everything else does, so that its bits are those of a
// training step: without Z, cuBLASLt may multiply in another order.
bool KeepsInner() { return GradEnabled() || InFirstRun(); }

// The residual may be undefined.
Variable MlpOf(const Variable& input, const GeluMlpWeights& w, const Values& values,
               const Variable& residual = {}) {
  const Shape inner = AffineShape("gelu_mlp", input.shape(), w.wide, w.wide_bias, kLayout);
  const Shape shape = AffineShape("gelu_mlp", inner, w.narrow, w.narrow_bias, kLayout);
  const Tensor x = Rows(input.data());
  const Device device =
      CommonDevice("gelu_mlp", x, values.wide, values.wide_bias, values.narrow, values.narrow_bias);
  const Shape rows{x.dim(0), values.wide.dim(1)};
  Tensor z = KeepsInner() ? Tensor(rows, x.dtype(), device) : Tensor();
  Tensor h(rows, x.dtype(), device),
      out(shape, residual.defined() ? residual.dtype() : x.dtype(), device);
  kernels::GeluProduct(x, values.wide, values.wide_bias, z, h);
  Tensor y = Rows(out);
  if (residual.defined())
    kernels::ProductPlus(h, values.narrow, false, values.narrow_bias, Rows(residual.data()), y);
  else
    TimesWeight(h, values.narrow, values.narrow_bias, kLayout, y);
  const std::vector<Variable> inputs{input, w.wide, w.wide_bias, w.narrow, w.narrow_bias, residual};
  if (!NeedsGrad(inputs))
    return Record("gelu_mlp", std::move(out), {}, [](const GradContext&) { return Gradients(); });
  const bool inner_trains =
      w.wide.requires_grad() || (w.wide_bias.defined() && w.wide_bias.requires_grad());
  const bool goes_in = input.requires_grad() || inner_trains;
  return Record("gelu_mlp", std::move(out), inputs,
                MlpRule{.x = SavedActivation(w.wide.requires_grad() ? x : Tensor()),
                        .z = SavedActivation(goes_in ? z : Tensor()),
                        .h = SavedActivation(w.narrow.requires_grad() ? h : Tensor()),
                        .wide = Saved(input.requires_grad() ? values.wide : Tensor()),
                        .narrow = Saved(goes_in ? values.narrow : Tensor()),
                        .input = input.shape(),
                        .type = x.dtype(),
                        .wide_types = TypesOf(w.wide, w.wide_bias),
                        .narrow_types = TypesOf(w.narrow, w.narrow_bias),
                        .inner_trains = inner_trains});
}

}  // namespace

Variable FusedGeluMlp(const Variable& input, const GeluMlpWeights& w, const Variable& residual) {
  if (ComputesNatively("gelu_mlp", input, w.wide, w.wide_bias, w.narrow, w.narrow_bias)) {
    Values values = LowValuesOf(w);
    if (!residual.defined()) return MlpOf(ToLow(input), w, values);
    const Shape shape = AffineShape(
        "gelu_mlp", AffineShape("gelu_mlp", input.shape(), w.wide, w.wide_bias, kLayout), w.narrow,
        w.narrow_bias, kLayout);
    if (!AddsInProduct(input, shape, residual))
      return Add(MlpOf(ToLow(input), w, values), residual);
    values.narrow_bias = BiasFor(residual, w.narrow_bias);
    return MlpOf(ToLow(input), w, values, residual);
  }
  if (residual.defined()) return Add(FusedGeluMlp(input, w), residual);
  return InPrecision(
      "gelu_mlp",
      [](const Variable& input, const Variable& wide, const Variable& wide_bias,
         const Variable& narrow, const Variable& narrow_bias) {
        CheckAffineTypes("gelu_mlp", input, wide, wide_bias);
        CheckAffineTypes("gelu_mlp", input, narrow, narrow_bias);
        const GeluMlpWeights own{wide, wide_bias, narrow, narrow_bias};
        return MlpOf(input, own, ValuesOf(own));
      },
      input, w.wide, w.wide_bias, w.narrow, w.narrow_bias);
}

Variable GeluMlp(const Variable& input, const GeluMlpWeights& w, const Variable& residual) {
  const bool emulated = WithPrecision::Current() != DType::kF32 && !WithPrecision::Native();
  if (input.data().device().kind == DeviceKind::kCuda && !emulated)
    return FusedGeluMlp(input, w, residual);
  const Variable inner = Gelu(LinearInOut(input, w.wide, w.wide_bias), "tanh");
  if (residual.defined()) return LinearPlus(inner, w.narrow, w.narrow_bias, residual, kLayout);
  return LinearInOut(inner, w.narrow, w.narrow_bias);
}

}  // namespace torus::ops
