#include "ops/attention/composed.h"

#include "ops/attention/kernels.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/select.h"
#include "ops/matmul/matmul.h"
#include "ops/softmax/softmax.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

// Each key head repeated for its group: (..., heads, S, E).
Variable Repeated(const Variable& v, int64_t group) {
  if (group == 1) return v;
  Shape wide, merged = v.shape();
  const int heads = v.rank() - 3;
  for (int d = 0; d < v.rank(); ++d) {
    wide.push_back(v.dim(d));
    if (d == heads) wide.push_back(group);
  }
  merged[heads] *= group;
  return Reshape(Expand(Unsqueeze(v, heads + 1), wide), merged);
}

// Rows that attend to no key, as (..., L, 1): their softmax would be NaN.
Variable DeadRows(const Tensor& scores) {
  Shape shape = scores.shape();
  shape[shape.rank() - 1] = 1;
  Tensor dead(shape, DType::kBool, scores.device());
  kernels::FindDeadRows(scores.Contiguous(), dead);
  return Variable(dead);
}

}  // namespace

Variable ComposedAttention(const Variable& query, const Variable& key, const Variable& value,
                           const Variable& added, const AttentionProblem& problem) {
  const AttentionShape& shape = problem.shape;
  const Variable k = Transpose(Repeated(key, shape.group), -1, -2);
  const Variable scores = Expand(Add(Mul(Matmul(query, k), problem.scale), added), shape.Scores());
  const Variable dead = DeadRows(scores.data());
  Variable weights = MaskedFill(Softmax(MaskedFill(scores, dead, 0), -1), dead, 0);
  if (!problem.dropout.streams.empty())
    weights = Mul(weights, Variable(DropoutTensor(problem.dropout, weights.data())));
  return Matmul(weights, Repeated(value, shape.group));
}

}  // namespace torus::ops
