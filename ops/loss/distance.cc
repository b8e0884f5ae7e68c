#include "ops/loss/distance.h"

#include <cmath>

#include "ops/elementwise/binary.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/power.h"
#include "ops/elementwise/select.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/reduction.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

// root(sum), but at 0, where its slope is infinite, 0 with a gradient of 0.
template <class F>
Variable RootOf(const Variable& sum, const F& root) {
  const Variable zero(ApplyCompare("norm", CompareOp::kEqual, sum.data(), 0.0));
  return MaskedFill(root(MaskedFill(sum, zero, 1)), zero, 0);
}

Variable Norm(const Variable& x, double p, int64_t dim, bool keepdim) {
  if (p == 2)
    return RootOf(Sum(Mul(x, x), {dim}, keepdim), [](const Variable& sum) { return Sqrt(sum); });
  if (p == 1) return Sum(Abs(x), {dim}, keepdim);
  if (std::isinf(p)) return Amax(Abs(x), {dim}, keepdim);
  if (p == 0) {
    const Variable zero(ApplyCompare("norm", CompareOp::kEqual, x.data(), 0.0));
    return Sum(MaskedFill(Variable(Full(x.shape(), 1, x.dtype(), x.data().device())), zero, 0),
               {dim}, keepdim);
  }
  return RootOf(Sum(Pow(Abs(x), p), {dim}, keepdim),
                [p](const Variable& sum) { return Pow(sum, 1 / p); });
}

// max(norm, eps) with the gradient of the norm alone.
Variable AtLeast(const Variable& norm, double eps) {
  const Tensor missing =
      ApplyBinary("cosine_similarity", BinaryOp::kSub, Number(eps, norm.data()), norm.data());
  const Tensor short_of = ApplyCompare("cosine_similarity", CompareOp::kLess, norm.data(), eps);
  return Add(norm, Variable(ApplySelect("cosine_similarity", short_of, missing, 0.0)));
}

Variable UnitVectors(const Variable& x, int64_t dim, double eps) {
  return Div(x, AtLeast(Norm(x, 2, dim, true), eps));
}

}  // namespace

Variable NormOfRows(const Variable& input, double p, bool keepdim) {
  Require(input.rank() >= 1 && p >= 0, "norm", "needs a vector and a p of at least 0, got {}, {}",
          input.shape(), p);
  return Norm(input, p, -1, keepdim);
}

Variable PairwiseDistance(const Variable& x1, const Variable& x2, double p, double eps,
                          bool keepdim) {
  return NormOfRows(Add(Sub(x1, x2), eps), p, keepdim);
}

Variable CosineSimilarity(const Variable& x1, const Variable& x2, int64_t dim, double eps) {
  const Shape both = BroadcastShapes("cosine_similarity", x1.shape(), x2.shape());
  const auto units = [&](const Variable& x) { return UnitVectors(Expand(x, both), dim, eps); };
  return Sum(Mul(units(x1), units(x2)), {dim});
}

}  // namespace torus::ops
