#include "ops/loss/distance.h"

#include "autograd/undefined_input.h"
#include "ops/elementwise/elementwise.h"
#include "ops/loss/reduce_variables.h"
#include "ops/reduction/norm.h"
#include "ops/reduction/reduction.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

Variable UnitVectors(const Variable& x, int64_t dim, double eps) {
  return Div(x, AtLeast(VectorNorm(x, 2, {dim}, true), eps));
}

}  // namespace

Variable NormOfRows(const Variable& input, double p, bool keepdim) {
  RequireDefined("norm", input);
  Require(input.rank() >= 1 && p >= 0, "norm", "needs a vector and a p of at least 0, got {}, {}",
          input.shape(), p);
  return VectorNorm(input, p, {-1}, keepdim);
}

Variable PairwiseDistance(const Variable& x1, const Variable& x2, double p, double eps,
                          bool keepdim) {
  RequireDefined("pairwise_distance", x1, x2);
  return NormOfRows(Add(Sub(x1, x2), eps), p, keepdim);
}

Variable CosineSimilarity(const Variable& x1, const Variable& x2, int64_t dim, double eps) {
  RequireDefined("cosine_similarity", x1, x2);
  const Shape both = BroadcastShapes("cosine_similarity", x1.shape(), x2.shape());
  const auto units = [&](const Variable& x) { return UnitVectors(Expand(x, both), dim, eps); };
  return Sum(Mul(units(x1), units(x2)), {dim});
}

}  // namespace torus::ops
