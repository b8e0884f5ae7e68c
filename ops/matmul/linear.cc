#include "ops/matmul/linear.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/matmul/kernels.h"
#include "ops/matmul/matmul.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

// How the weight lies in memory.
enum class Layout { kOutIn, kInOut };

Shape LinearShape(const Variable& input, const Variable& weight, const Variable& bias,
                  Layout layout) {
  const bool out_in = layout == Layout::kOutIn;
  Require(weight.rank() == 2 && input.rank() >= 1 && input.dim(-1) == weight.dim(out_in ? 1 : 0),
          "linear", "needs input (..., in) and weight {}, got {} and {}",
          out_in ? "(out, in)" : "(in, out)", input.shape(), weight.shape());
  const int64_t out = weight.dim(out_in ? 0 : 1);
  Require(!bias.defined() || bias.shape() == Shape{out}, "linear", "needs a bias ({}), got {}", out,
          bias);
  Shape shape = input.shape();
  shape[shape.rank() - 1] = out;
  return shape;
}

void CheckTypes(const Variable& input, const Variable& weight, const Variable& bias) {
  Require(input.dtype() == weight.dtype(), "linear", "dtypes differ: {} and {}", input.data(),
          weight.data());
  Require(!bias.defined() || bias.dtype() == input.dtype(), "linear",
          "dtypes differ: {} and the bias {}", input.data(), bias);
}

// (rows, size of the last dimension)
Tensor Rows(const Tensor& t) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < t.rank(); ++d) rows *= t.dim(d);
  return t.Reshape({rows, t.dim(-1)});
}

// x times the weight plus bias, for the output.
void TimesWeight(const Tensor& x, const Tensor& w, const Tensor& bias, Layout layout, Tensor& out) {
  (layout == Layout::kOutIn ? kernels::ProductByTransposed : kernels::Product)(x, w, bias, out);
}

// dy times the weight's transpose, for the input.
Tensor InputGradient(const Tensor& dy, const Tensor& w, Layout layout, const Shape& shape) {
  Tensor dx({dy.dim(0), shape[shape.rank() - 1]}, dy.dtype(), dy.device());
  (layout == Layout::kOutIn ? kernels::Product : kernels::ProductByTransposed)(dy, w, {}, dx);
  return dx.View(shape);
}

// dy^T x for (out, in), x^T dy for (in, out).
Tensor WeightGradient(const Tensor& dy, const Tensor& x, Layout layout, DType dtype) {
  const bool out_in = layout == Layout::kOutIn;
  const Tensor &left = out_in ? dy : x, &right = out_in ? x : dy;
  Tensor dw({left.dim(1), right.dim(1)}, dtype, dy.device());
  kernels::ProductOfTransposed(left, right, dw);
  return dw;
}

Tensor BiasGradient(const Tensor& dy) {
  if (dy.dtype() != DType::kBF16 && dy.dtype() != DType::kF16)
    return SumOver("linear", dy, {0}, false);
  Tensor sum({dy.dim(1)}, DType::kF32, dy.device());
  kernels::SumOfLowRows(dy, sum);
  return sum;
}

Device DeviceOf(const Variable& input, const Variable& weight, const Variable& bias) {
  return CommonDevice("linear", input.data(), weight.data(),
                      bias.defined() ? bias.data() : Tensor());
}

// As a product of the thread's low type takes it (ops/matmul/kernels.h).
Tensor LowBias(const Variable& bias) {
  if (!bias.defined()) return Tensor();
  return bias.data().device().kind == DeviceKind::kCpu ? bias.data() : LowValues(bias);
}

// `values` and `added` are the weight's and the bias's, in the types that the product takes.
Variable AffineOf(const Variable& input, const Variable& weight, const Tensor& values,
                  const Variable& bias, const Tensor& added, Layout layout) {
  const Shape shape = LinearShape(input, weight, bias, layout);
  const Tensor x = Rows(input.data()).Contiguous(), w = values.Contiguous();
  Tensor out(shape, x.dtype(), DeviceOf(input, weight, bias));
  Tensor rows = Rows(out);
  TimesWeight(x, w, bias.defined() ? added.Contiguous() : Tensor(), layout, rows);
  return Record("linear", std::move(out), {input, weight, bias},
                [x = SavedActivation(weight.requires_grad() ? x : Tensor()),
                 w = Saved(input.requires_grad() ? w : Tensor()), shape = input.shape(), layout,
                 dtype = weight.dtype()](const GradContext& g) {
                  const Tensor dy = Rows(g.grad());
                  return Gradients{
                      g.wants(0) ? InputGradient(dy, w.get(), layout, shape) : Tensor(),
                      g.wants(1) ? WeightGradient(dy, x.get(), layout, dtype) : Tensor(),
                      g.wants(2) ? BiasGradient(dy) : Tensor()};
                });
}

Variable Affine(const Variable& input, const Variable& weight, const Variable& bias,
                Layout layout) {
  if (ComputesNatively("linear", input, weight, bias))
    return AffineOf(ToLow(input), weight, LowValues(weight), bias, LowBias(bias), layout);
  return InPrecision(
      "linear",
      [&](const Variable& input, const Variable& weight, const Variable& bias) {
        CheckTypes(input, weight, bias);
        const Tensor added = bias.defined() ? bias.data() : Tensor();
        return AffineOf(input, weight, weight.data(), bias, added, layout);
      },
      input, weight, bias);
}

}  // namespace

Variable Linear(const Variable& input, const Variable& weight, const Variable& bias) {
  if (weight.rank() == 1 && !bias.defined()) return Matmul(input, weight);
  return Affine(input, weight, bias, Layout::kOutIn);
}

Variable LinearInOut(const Variable& input, const Variable& weight, const Variable& bias) {
  return Affine(input, weight, bias, Layout::kInOut);
}

}  // namespace torus::ops
