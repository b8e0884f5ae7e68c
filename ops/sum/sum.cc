#include "ops/sum/sum.h"

#include "ops/sum/kernels.h"
#include "ops/sum/reduction_shape.h"

namespace torus::ops {
namespace {

// Sums the dimensions [first, last] of a contiguous tensor, keeping them with size 1.
Tensor SumRun(std::string_view op, const Tensor& input, int first, int last, double divisor) {
  Shape shape = input.shape();
  for (int d = first; d <= last; ++d) shape[d] = 1;
  Tensor out(shape, input.dtype(), input.device());
  kernels::SumMiddle(op, input.View(MiddleShape(input.shape(), first, last)), divisor, out);
  return out;
}

}  // namespace

Tensor SumOver(std::string_view op, const Tensor& input, const Dims& reduced, bool keepdim,
               double divisor) {
  Tensor sum = input.Contiguous();
  // Runs of adjacent dimensions, from the last: each is one pass. Only the final one divides, so
  // that the mean of nothing is NaN whichever run is empty.
  int r = reduced.rank() - 1;
  if (r < 0) sum = SumRun(op, sum, 0, -1, divisor);
  while (r >= 0) {
    const int last = static_cast<int>(reduced[r]);
    int first = last;
    while (--r >= 0 && reduced[r] == first - 1) --first;
    sum = SumRun(op, sum, first, last, r < 0 ? divisor : 1);
  }
  return sum.View(ReducedShape(input.shape(), reduced, keepdim));
}

Tensor SumTo(const Tensor& grad, const Shape& shape) {
  if (grad.shape() == shape) return grad;
  const int added = grad.rank() - shape.rank();
  Dims reduced;
  for (int d = 0; d < grad.rank(); ++d)
    if (d < added || (shape[d - added] == 1 && grad.dim(d) != 1)) reduced.push_back(d);
  return SumOver("sum_to", grad, reduced, true).View(shape);
}

}  // namespace torus::ops
