#include "ops/reduction/cumsum.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/precision/in_precision.h"
#include "ops/reduction/kernels.h"
#include "ops/sum/reduction_shape.h"

namespace torus::ops {
namespace {

Tensor RunningSum(const Tensor& x, int dim, bool reverse) {
  const Shape middle = MiddleShape(x.shape(), dim, dim);
  Tensor y(middle, x.dtype(), x.device());
  kernels::Cumsum(x.View(middle), reverse, y);
  return y.View(x.shape());
}

}  // namespace

Variable Cumsum(const Variable& input, int64_t dim) {
  RequireDefined("cumsum", input);
  if (!IsFloating(input.dtype())) {
    const int d = NormalizeDim("cumsum", dim, input.rank());
    return Variable(RunningSum(input.data().To(DType::kI64).Contiguous(), d, false));
  }
  return InPrecision(
      "cumsum",
      [&](const Variable& input) {
        const int d = NormalizeDim("cumsum", dim, input.rank());
        return Record(
            "cumsum", RunningSum(input.data().Contiguous(), d, false), {input},
            [d](const GradContext& g) { return Gradients{RunningSum(g.grad(), d, true)}; });
      },
      input);
}

}  // namespace torus::ops
