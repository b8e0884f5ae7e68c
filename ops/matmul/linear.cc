#include "ops/matmul/linear.h"

#include "autograd/node.h"
#include "ops/gemm/gemm.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/product.h"
#include "ops/reduction/sum.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

constexpr auto kNo = cpu::Transpose::kNo, kYes = cpu::Transpose::kYes;

Shape LinearShape(const Variable& input, const Variable& weight, const Variable& bias) {
  Require(weight.rank() == 2 && input.rank() >= 1 && input.dim(-1) == weight.dim(1), "linear",
          "needs input (..., in) and weight (out, in), got {} and {}", ToString(input.shape()),
          ToString(weight.shape()));
  Require(!bias.defined() || bias.shape() == Shape{weight.dim(0)}, "linear",
          "needs a bias ({}), got {}", weight.dim(0),
          bias.defined() ? ToString(bias.shape()) : "none");
  Require(input.dtype() == weight.dtype() && (!bias.defined() || bias.dtype() == input.dtype()),
          "linear", "dtypes differ: {} and {}", input.data().Describe(), weight.data().Describe());
  Shape shape = input.shape();
  shape[shape.rank() - 1] = weight.dim(0);
  return shape;
}

// (rows, size of the last dimension)
Tensor Rows(const Tensor& t) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < t.rank(); ++d) rows *= t.dim(d);
  return t.Reshape({rows, t.dim(-1)});
}

}  // namespace

Variable Linear(const Variable& input, const Variable& weight, const Variable& bias) {
  if (weight.rank() == 1 && !bias.defined()) return Matmul(input, weight);
  const Shape shape = LinearShape(input, weight, bias);
  const Tensor x = Rows(input.data()), w = weight.data().Contiguous();
  const int64_t m = x.dim(0), n = w.dim(0), k = w.dim(1);
  Tensor out(shape, x.dtype(), x.device());
  if (bias.defined()) Copy(bias.data().Expand(shape), out);
  VisitFloat("linear", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    cpu::Gemm(kNo, kYes, m, n, k, T(1), x.data<T>(), k, w.data<T>(), k, T(bias.defined() ? 1 : 0),
              out.mutable_data<T>(), n);
  });
  return Record("linear", std::move(out), {input, weight, bias},
                [x = Saved(weight.requires_grad() ? x : Tensor()),
                 w = Saved(input.requires_grad() ? w : Tensor()),
                 shape = input.shape()](const GradContext& g) {
                  const Tensor dy = Rows(g.grad());
                  return Gradients{
                      g.wants(0) ? MatrixProduct(dy, w.get()).View(shape) : Tensor(),
                      g.wants(1) ? MatrixProduct(dy.Transpose(0, 1), x.get()) : Tensor(),
                      g.wants(2) ? SumOver("linear", dy, {0}, false) : Tensor()};
                });
}

}  // namespace torus::ops
