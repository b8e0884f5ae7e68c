#include "ops/matmul/affine.h"

#include "ops/matmul/kernels.h"
#include "ops/precision/native.h"
#include "ops/sum/sum.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

Tensor BiasGradient(const Tensor& dy) {
  if (!IsLow(dy.dtype())) return SumOver("linear", dy, {0}, false);
  Tensor sum({dy.dim(1)}, DType::kF32, dy.device());
  kernels::SumOfLowRows(dy, sum);
  return sum;
}

// dy^T x for (out, in), x^T dy for (in, out).
struct WeightProduct {
  const Tensor &left, &right;
  Tensor out;
};

WeightProduct ProductFor(const Tensor& dy, const Tensor& x, WeightLayout layout, DType dtype) {
  const bool out_in = layout == WeightLayout::kOutIn;
  const Tensor &left = out_in ? dy : x, &right = out_in ? x : dy;
  return {left, right, Tensor({left.dim(1), right.dim(1)}, dtype, dy.device())};
}

}  // namespace

Shape AffineShape(std::string_view op, const Shape& input, const Variable& weight,
                  const Variable& bias, WeightLayout layout) {
  const bool out_in = layout == WeightLayout::kOutIn;
  Require(weight.rank() == 2 && input.rank() >= 1, op,
          "needs input (..., in) and weight {}, got {} and {}", out_in ? "(out, in)" : "(in, out)",
          input, weight.shape());
  const int64_t given = input[input.rank() - 1], in = weight.dim(out_in ? 1 : 0);
  Require(given == in, op, "input {} has {} features, weight {} takes {}", input, given,
          weight.shape(), in);
  const int64_t out = weight.dim(out_in ? 0 : 1);
  Require(!bias.defined() || bias.shape() == Shape{out}, op, "needs a bias ({}), got {}", out,
          bias);
  Shape shape = input;
  shape[shape.rank() - 1] = out;
  return shape;
}

void CheckAffineTypes(std::string_view op, const Variable& input, const Variable& weight,
                      const Variable& bias) {
  Require(input.dtype() == weight.dtype(), op, "dtypes differ: {} and {}", input.data(),
          weight.data());
  Require(!bias.defined() || bias.dtype() == input.dtype(), op, "dtypes differ: {} and the bias {}",
          input.data(), bias);
}

Tensor LowBias(const Variable& bias) {
  if (!bias.defined()) return Tensor();
  return bias.data().device().kind == DeviceKind::kCpu ? bias.data().To(DType::kF32)
                                                       : LowValues(bias);
}

Tensor Rows(const Tensor& t) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < t.rank(); ++d) rows *= t.dim(d);
  return t.Reshape({rows, t.dim(-1)});
}

void TimesWeight(const Tensor& x, const Tensor& w, const Tensor& bias, WeightLayout layout,
                 Tensor& out) {
  (layout == WeightLayout::kOutIn ? kernels::ProductByTransposed : kernels::Product)(x, w, bias,
                                                                                     out);
}

Tensor AffineInputGradient(const Tensor& dy, const Tensor& w, WeightLayout layout) {
  const bool out_in = layout == WeightLayout::kOutIn;
  Tensor dx({dy.dim(0), w.dim(out_in ? 1 : 0)}, dy.dtype(), dy.device());
  (out_in ? kernels::Product : kernels::ProductByTransposed)(dy, w, {}, dx);
  return dx;
}

Tensor AffineInputGradient(const GradContext& g, const Tensor& dy, const Tensor& w,
                           WeightLayout layout, const Shape& shape) {
  const bool adds = IsLow(dy.dtype()) && dy.device().kind == DeviceKind::kCuda;
  Tensor sum = adds ? g.TakeSum(0) : Tensor();
  if (!sum.defined()) return AffineInputGradient(dy, w, layout).View(shape);
  if (!IsSole(sum)) sum = sum.Clone();
  Tensor rows = Rows(sum);
  kernels::ProductPlus(dy, w, layout == WeightLayout::kInOut, {}, rows, rows);
  return sum;
}

AffineTypes TypesOf(const Variable& weight, const Variable& bias) {
  return {weight.dtype(), bias.defined() ? bias.dtype() : weight.dtype()};
}

AffineGradients AffineWeightGradients(const Tensor& dy, const Tensor& x, WeightLayout layout,
                                      const AffineTypes& types, bool wants_weight,
                                      bool wants_bias) {
  AffineGradients gradients;
  if (!wants_weight) {
    if (wants_bias) gradients.bias = BiasGradient(dy).To(types.bias);
    return gradients;
  }
  WeightProduct product = ProductFor(dy, x, layout, types.weight);
  if (wants_bias && IsLow(dy.dtype()) && types.weight == DType::kF32) {
    gradients.bias = Tensor({dy.dim(1)}, DType::kF32, dy.device());
    kernels::ProductOfTransposedAndSum(product.left, product.right, layout == WeightLayout::kOutIn,
                                       product.out, gradients.bias);
  } else {
    kernels::ProductOfTransposed(product.left, product.right, product.out);
    if (wants_bias) gradients.bias = BiasGradient(dy);
  }
  if (wants_bias) gradients.bias = gradients.bias.To(types.bias);
  gradients.weight = product.out;
  return gradients;
}

}  // namespace torus::ops
