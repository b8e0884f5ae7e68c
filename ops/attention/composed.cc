#include "ops/attention/composed.h"

#include <algorithm>
#include <cmath>

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

template <class T>
void FindDeadRows(const Tensor& scores, bool* dead) {
  const int64_t keys = scores.dim(-1), rows = scores.numel() / std::max<int64_t>(1, keys);
  const T* s = scores.data<T>();
  for (int64_t r = 0; r < rows; ++r)
    dead[r] =
        std::all_of(s + r * keys, s + (r + 1) * keys, [](T v) { return std::isinf(v) && v < 0; });
}

// Rows that see nothing, as (..., L, 1): their softmax would be NaN.
Variable DeadRows(const Tensor& scores) {
  Shape shape = scores.shape();
  shape[shape.rank() - 1] = 1;
  Tensor dead(shape, DType::kBool);
  VisitCompute("scaled_dot_product_attention", scores.dtype(), [&]<class T>(ComputeType<T>) {
    FindDeadRows<T>(scores.Contiguous(), dead.mutable_data<bool>());
  });
  return Variable(dead);
}

}  // namespace

Variable ComposedAttention(const Variable& query, const Variable& key, const Variable& value,
                           const AttentionOptions& options, const AttentionShape& shape,
                           const KeyedDropout& dropout, double scale) {
  const Variable k = Transpose(Repeated(key, shape.group), -1, -2);
  const Variable scores =
      Expand(Add(Mul(Matmul(query, k), scale), options.attn_mask), shape.Scores());
  const Variable dead = DeadRows(scores.data());
  Variable weights = MaskedFill(Softmax(MaskedFill(scores, dead, 0), -1), dead, 0);
  if (!dropout.streams.empty())
    weights = Mul(weights, Variable(DropoutTensor(dropout, shape.Scores(), query.dtype())));
  return Matmul(weights, Repeated(value, shape.group));
}

}  // namespace torus::ops
