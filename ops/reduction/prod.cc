#include "ops/reduction/prod.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/precision/in_precision.h"
#include "ops/reduction/kernels.h"
#include "ops/reduction/reduced_rows.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

// With the reduced dimensions of size 1.
Tensor ProductOver(const Tensor& x, const Dims& reduced) {
  Tensor product(ReducedShape(x.shape(), reduced, true), x.dtype(), x.device());
  kernels::ProductOfRows("prod", ReducedRows(x, reduced), product);
  return product;
}

// The product of an element's others: that of all, without zeros, over the element, if there is no
// zero; that of all to a zero that is the only one; else 0.
Tensor OthersProduct(const Tensor& x, const Dims& reduced) {
  const Tensor zero = ApplyCompare("prod", CompareOp::kEqual, x, 0);
  const Tensor filled = ApplySelect("prod", zero, Number(1, x), x);
  const Tensor zeros = SumOver("prod", ApplySelect("prod", zero, Number(1, x), 0), reduced, true);
  const Tensor product = ProductOver(filled, reduced);
  const auto where_zeros_are = [&](double count, const Tensor& t) {
    return ApplySelect("prod", ApplyCompare("prod", CompareOp::kEqual, zeros, count), t, 0);
  };
  return ApplySelect("prod", zero, where_zeros_are(1, product),
                     where_zeros_are(0, ApplyBinary("prod", BinaryOp::kDiv, product, filled)));
}

}  // namespace

Variable Prod(const Variable& input, const Dims& dims, bool keepdim) {
  RequireDefined("prod", input);
  const Dims reduced = ReducedDims("prod", dims, input.rank());
  const Shape shape = ReducedShape(input.shape(), reduced, keepdim);
  if (!IsFloating(input.dtype()))
    return Variable(ProductOver(input.data().To(DType::kI64), reduced).View(shape));
  return InPrecision(
      "prod",
      [&](const Variable& input) {
        return Record("prod", ProductOver(input.data(), reduced).View(shape), {input},
                      [x = Saved(input), reduced](const GradContext& g) {
                        const Shape kept = ReducedShape(x.get().shape(), reduced, true);
                        return Gradients{ApplyBinary("prod", BinaryOp::kMul, g.grad().View(kept),
                                                     OthersProduct(x.get(), reduced))};
                      });
      },
      input);
}

}  // namespace torus::ops
