#include "ops/matmul/matmul.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/product.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"
#include "ops/sum/sum.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

// a b, summed back to `shape`, which broadcasts to its shape; 16-bit products are summed in f32.
Tensor ProductTo(const Shape& shape, const Tensor& a, const Tensor& b) {
  const DType dtype = a.dtype();
  if (!IsLow(dtype) || MatmulShape(a.shape(), b.shape()) == shape)
    return SumTo(MatrixProduct(a, b), shape);
  return SumTo(MatrixProduct(a, b, DType::kF32), shape).To(dtype);
}

// The gradient of the right operand, given g, the gradient of the product.
Tensor RightGradient(const Tensor& a, const Tensor& g, const Shape& shape) {
  // One matrix for a whole batch: its rows are summed by the product itself.
  if (shape.rank() == 2 && a.rank() > 2 && a.dim(-1) > 0 && g.dim(-1) > 0)
    return MatrixProduct(a.Reshape({-1, a.dim(-1)}).Transpose(0, 1), g.Reshape({-1, g.dim(-1)}));
  return ProductTo(shape, a.Transpose(-1, -2), g);
}

Variable MatmulOf(const Variable& input, const Variable& other) {
  return Record(
      "matmul", MatrixProduct(input.data(), other.data()), {input, other},
      [a = Saved(other.requires_grad() ? input : Variable()),
       b = Saved(input.requires_grad() ? other : Variable()), shape_a = input.shape(),
       shape_b = other.shape()](const GradContext& g) {
        const auto left = [&] { return ProductTo(shape_a, g.grad(), b.get().Transpose(-1, -2)); };
        return Gradients{g.wants(0) ? left() : Tensor(),
                         g.wants(1) ? RightGradient(a.get(), g.grad(), shape_b) : Tensor()};
      });
}

Variable MatrixMatmul(const Variable& input, const Variable& other) {
  if (ComputesNatively("matmul", input, other)) return MatmulOf(ToLow(input), ToLow(other));
  return InPrecision("matmul", MatmulOf, input, other);
}

}  // namespace

Variable Matmul(const Variable& input, const Variable& other) {
  RequireDefined("matmul", input, other);
  Require(input.rank() > 0 && other.rank() > 0, "matmul", "scalars have no product: {} x {}",
          input.shape(), other.shape());
  if (input.rank() == 1)
    return Squeeze(Matmul(Unsqueeze(input, 0), other), {other.rank() > 1 ? -2 : 0});
  if (other.rank() == 1) return Squeeze(Matmul(input, Unsqueeze(other, 1)), {-1});
  return MatrixMatmul(input, other);
}

Variable Bmm(const Variable& input, const Variable& mat2) {
  RequireDefined("bmm", input, mat2);
  Require(input.rank() == 3 && mat2.rank() == 3 && input.dim(0) == mat2.dim(0), "bmm",
          "needs (b, m, k) x (b, k, n), got {} x {}", input.shape(), mat2.shape());
  return MatrixMatmul(input, mat2);
}

}  // namespace torus::ops
