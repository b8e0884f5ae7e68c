#include "ops/matmul/linear.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "autograd/undefined_input.h"
#include "ops/matmul/affine.h"
#include "ops/matmul/matmul.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"
#include "runtime/dispatch.h"

namespace torus::ops {
namespace {

Device DeviceOf(const Variable& input, const Variable& weight, const Variable& bias) {
  return CommonDevice("linear", input.data(), weight.data(),
                      bias.defined() ? bias.data() : Tensor());
}

// `values` and `added` are the values of weight and bias, in dtypes that the product takes.
Variable AffineOf(const Variable& input, const Variable& weight, const Tensor& values,
                  const Variable& bias, const Tensor& added, WeightLayout layout) {
  const Shape shape = AffineShape("linear", input.shape(), weight, bias, layout);
  const Tensor x = Rows(input.data()), w = values.Contiguous();
  Tensor out(shape, x.dtype(), DeviceOf(input, weight, bias));
  Tensor rows = Rows(out);
  TimesWeight(x, w, bias.defined() ? added.Contiguous() : Tensor(), layout, rows);
  return Record("linear", std::move(out), {input, weight, bias},
                [x = SavedActivation(weight.requires_grad() ? x : Tensor()),
                 w = Saved(input.requires_grad() ? w : Tensor()), shape = input.shape(), layout,
                 types = TypesOf(weight, bias)](const GradContext& g) {
                  const Tensor dy = Rows(g.grad());
                  Gradients gradients(3);
                  if (g.wants(0)) gradients[0] = AffineInputGradient(g, dy, w.get(), layout, shape);
                  const Tensor kept = g.wants(1) ? x.get() : Tensor();
                  const AffineGradients own =
                      AffineWeightGradients(dy, kept, layout, types, g.wants(1), g.wants(2));
                  gradients[1] = own.weight;
                  gradients[2] = own.bias;
                  return gradients;
                });
}

Variable Affine(const Variable& input, const Variable& weight, const Variable& bias,
                WeightLayout layout) {
  if (ComputesNatively("linear", input, weight, bias))
    return AffineOf(ToLow(input), weight, LowValues(weight), bias, LowBias(bias), layout);
  return InPrecision(
      "linear",
      [&](const Variable& input, const Variable& weight, const Variable& bias) {
        CheckAffineTypes("linear", input, weight, bias);
        const Tensor added = bias.defined() ? bias.data() : Tensor();
        return AffineOf(input, weight, weight.data(), bias, added, layout);
      },
      input, weight, bias);
}

}  // namespace

Variable Linear(const Variable& input, const Variable& weight, const Variable& bias) {
  RequireDefined("linear", input, weight);
  if (weight.rank() == 1 && !bias.defined()) return Matmul(input, weight);
  return Affine(input, weight, bias, WeightLayout::kOutIn);
}

Variable LinearInOut(const Variable& input, const Variable& weight, const Variable& bias) {
  RequireDefined("linear", input, weight);
  return Affine(input, weight, bias, WeightLayout::kInOut);
}

}  // namespace torus::ops
