#include "ops/matmul/newton_schulz.h"

#include "ops/elementwise/binary.h"
#include "ops/matmul/product.h"
#include "ops/sum/sum.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "newton_schulz";

Tensor Rounded(const Tensor& x) { return x.To(DType::kBF16).To(DType::kF32); }

Tensor Product(const Tensor& a, const Tensor& b) { return ApplyBinary(kOp, BinaryOp::kMul, a, b); }

// x divided by its norm.
Tensor Normalized(const Tensor& x, double eps) {
  const Tensor squares = SumOver(kOp, Product(x, x), {0, 1}, false);
  const Tensor norm = Rounded(ApplyBinary(kOp, BinaryOp::kPow, squares, 0.5));
  return Rounded(
      ApplyBinary(kOp, BinaryOp::kDiv, x, ApplyBinary(kOp, BinaryOp::kMaximum, norm, eps)));
}

// beta c + alpha a b, rounded once.
Tensor ScaledSum(const Tensor& a, const Tensor& b, double alpha, const Tensor& c, double beta) {
  const Tensor product = ApplyBinary(kOp, BinaryOp::kMul, MatrixProduct(a, b), alpha);
  return Rounded(
      ApplyBinary(kOp, BinaryOp::kAdd, ApplyBinary(kOp, BinaryOp::kMul, c, beta), product));
}

}  // namespace

Tensor NewtonSchulz(const Tensor& matrix, const NewtonSchulzOptions& o) {
  Require(matrix.rank() == 2, kOp, "needs a matrix, got {}", matrix);
  Require(o.steps >= 1 && o.steps < 100, kOp, "steps must lie in 1 to 99, got {}", o.steps);
  const bool tall = matrix.dim(0) > matrix.dim(1);
  const auto [a, b, c] = o.coefficients;
  Tensor x = Rounded(tall ? matrix.Transpose(0, 1) : matrix);
  x = Normalized(x, o.eps);
  for (int64_t step = 0; step < o.steps; ++step) {
    const Tensor gram = Rounded(MatrixProduct(x, x.Transpose(0, 1)));
    x = ScaledSum(ScaledSum(gram, gram, c, gram, b), x, 1, x, a);
  }
  return (tall ? x.Transpose(0, 1).Contiguous() : x).To(matrix.dtype());
}

}  // namespace torus::ops
