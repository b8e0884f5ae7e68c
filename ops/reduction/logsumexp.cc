#include "ops/reduction/logsumexp.h"

#include <limits>

#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/math.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/reduction.h"
#include "ops/sum/reduction_shape.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

// The largest elements, detached from the graph; 0 where they are infinite, because inf - inf is
// NaN.
Variable ShiftOf(const Variable& input, const Dims& dims) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Variable largest = Amax(input.Detach(), dims, true);
  const Tensor infinite =
      ApplyCompare("logsumexp", CompareOp::kEqual, Abs(largest).data(), kInfinity);
  return Variable(ApplySelect("logsumexp", infinite, Number(0, largest.data()), largest.data()));
}

}  // namespace

Variable LogSumExp(const Variable& input, const Dims& dims, bool keepdim) {
  RequireDefined("logsumexp", input);
  const Dims reduced = ReducedDims("logsumexp", dims, input.rank());
  const Shape kept = ReducedShape(input.shape(), reduced, keepdim);
  if (ReducedCount(input.shape(), reduced) == 0) return Log(Sum(input, dims, keepdim));
  const Variable shift = ShiftOf(input, dims);
  const Variable sum = Sum(Exp(Sub(input, shift)), dims, true);
  return Reshape(Add(Log(sum), shift), kept);
}

}  // namespace torus::ops
