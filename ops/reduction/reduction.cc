#include "ops/reduction/reduction.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// Each element of a sum has the gradient of the sum: a view that repeats it.
Tensor RepeatBack(const Tensor& grad, const Shape& shape, const Dims& reduced) {
  return grad.View(ReducedShape(shape, reduced, true)).Expand(shape);
}

}  // namespace

Variable Sum(const Variable& input, const Dims& dims, bool keepdim) {
  RequireDefined("sum", input);
  if (!IsFloating(input.dtype())) {
    const Dims reduced = ReducedDims("sum", dims, input.rank());
    return Variable(SumOver("sum", input.data().To(DType::kI64), reduced, keepdim));
  }
  return InPrecision(
      "sum",
      [&](const Variable& input) {
        const Dims reduced = ReducedDims("sum", dims, input.rank());
        return Record("sum", SumOver("sum", input.data(), reduced, keepdim), {input},
                      [shape = input.shape(), reduced](const GradContext& g) {
                        return Gradients{RepeatBack(g.grad(), shape, reduced)};
                      });
      },
      input);
}

Variable Mean(const Variable& input, const Dims& dims, bool keepdim) {
  RequireDefined("mean", input);
  Require(IsFloating(input.dtype()), "mean", "needs floating-point values, got {}", input);
  return InPrecision(
      "mean",
      [&](const Variable& input) {
        const Dims reduced = ReducedDims("mean", dims, input.rank());
        const double count = static_cast<double>(ReducedCount(input.shape(), reduced));
        return Record("mean", SumOver("mean", input.data(), reduced, keepdim, count), {input},
                      [shape = input.shape(), reduced, count](const GradContext& g) {
                        Tensor share = g.grad().Clone();
                        ScaleInPlace(share, 1 / count);
                        return Gradients{RepeatBack(share, shape, reduced)};
                      });
      },
      input);
}

}  // namespace torus::ops
