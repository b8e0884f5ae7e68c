#include "ops/matmul/linear.h"

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/cpu/gemm.h"
#include "ops/matmul/matmul.h"
#include "ops/reduction/sum.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

constexpr auto kNo = cpu::Transpose::kNo, kYes = cpu::Transpose::kYes;

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
  Require(input.dtype() == weight.dtype(), "linear", "dtypes differ: {} and {}", input.data(),
          weight.data());
  Require(!bias.defined() || bias.dtype() == input.dtype(), "linear",
          "dtypes differ: {} and the bias {}", input.data(), bias);
  Shape shape = input.shape();
  shape[shape.rank() - 1] = out;
  return shape;
}

// (rows, size of the last dimension)
Tensor Rows(const Tensor& t) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < t.rank(); ++d) rows *= t.dim(d);
  return t.Reshape({rows, t.dim(-1)});
}

// a (m, k) times b as stored: (k, n), or (n, k) to be transposed; onto `out` (m, n) or over it.
void Multiply(const Tensor& a, const Tensor& b, cpu::Transpose transpose_b, bool add, Tensor& out) {
  const int64_t m = a.dim(0), k = a.dim(1), n = out.dim(1);
  VisitCompute("linear", a.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::Gemm(kNo, transpose_b, m, n, k, T(1), a.data<T>(), k, b.data<T>(), b.dim(1),
              T(add ? 1 : 0), out.mutable_data<T>(), n);
  });
}

// dy w, for the input.
Tensor InputGradient(const Tensor& dy, const Tensor& w, Layout layout, const Shape& shape) {
  Tensor dx({dy.dim(0), shape[shape.rank() - 1]}, dy.dtype(), dy.device());
  Multiply(dy, w, layout == Layout::kOutIn ? kNo : kYes, false, dx);
  return dx.View(shape);
}

// a^T b over their common rows: dy^T x for (out, in), x^T dy for (in, out).
Tensor WeightGradient(const Tensor& a, const Tensor& b) {
  const int64_t rows = a.dim(0), m = a.dim(1), n = b.dim(1);
  Tensor dw({m, n}, a.dtype(), a.device());
  VisitCompute("linear", a.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::Gemm(kYes, kNo, m, n, rows, T(1), a.data<T>(), m, b.data<T>(), n, T(0),
              dw.mutable_data<T>(), n);
  });
  return dw;
}

Variable Affine(const Variable& input, const Variable& weight, const Variable& bias,
                Layout layout) {
  const Shape shape = LinearShape(input, weight, bias, layout);
  const Tensor x = Rows(input.data()).Contiguous(), w = weight.data().Contiguous();
  Tensor out(shape, x.dtype(), x.device());
  if (bias.defined()) Copy(bias.data().Expand(shape), out);
  Tensor rows = Rows(out);
  Multiply(x, w, layout == Layout::kOutIn ? kYes : kNo, bias.defined(), rows);
  return Record("linear", std::move(out), {input, weight, bias},
                [x = SavedActivation(weight.requires_grad() ? x : Tensor()),
                 w = Saved(input.requires_grad() ? w : Tensor()), shape = input.shape(),
                 layout](const GradContext& g) {
                  const Tensor dy = Rows(g.grad());
                  const auto weight_gradient = [&] {
                    return layout == Layout::kOutIn ? WeightGradient(dy, x.get())
                                                    : WeightGradient(x.get(), dy);
                  };
                  return Gradients{
                      g.wants(0) ? InputGradient(dy, w.get(), layout, shape) : Tensor(),
                      g.wants(1) ? weight_gradient() : Tensor(),
                      g.wants(2) ? SumOver("linear", dy, {0}, false) : Tensor()};
                });
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
