#include "ops/attention/attention.h"

#include <cmath>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/attention/attention_shape.h"
#include "ops/attention/composed.h"
#include "ops/attention/kernels.h"
#include "ops/matmul/matrix_layout.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

void CheckArguments(const Variable& q, const Variable& k, const Variable& v,
                    const AttentionOptions& o) {
  Require(q.dtype() == k.dtype() && q.dtype() == v.dtype(), kOp, "dtypes differ: {}, {} and {}",
          q.data(), k.data(), v.data());
  const Variable& mask = o.attn_mask;
  Require(!mask.defined() || mask.dtype() == DType::kBool || mask.dtype() == q.dtype(), kOp,
          "attn_mask must be bool or {}, got {}", Name(q.dtype()), mask);
  Require(!mask.defined() || !o.is_causal, kOp, "attn_mask and is_causal exclude each other");
}

double ScaleOf(const AttentionOptions& o, int64_t width) {
  return o.scale.value_or(width == 0 ? 1 : 1 / std::sqrt(static_cast<double>(width)));
}

Tensor MaskOf(const AttentionOptions& o, const AttentionShape& shape) {
  if (!o.attn_mask.defined()) return {};
  const Shape scores = BroadcastShapes(kOp, o.attn_mask.shape(), shape.Scores());
  Require(scores == shape.Scores(), kOp, "attn_mask {} does not broadcast to {}",
          o.attn_mask.shape(), shape.Scores());
  return o.attn_mask.data().Expand(scores);
}

// A tensor (batch..., heads, L, Ev), stored as (batch..., L, heads, Ev).
Tensor EmptyResult(const AttentionShape& shape, DType dtype, Device device) {
  Shape memory = shape.Out();
  const int rank = memory.rank();
  if (rank < 3) return Tensor(memory, dtype, device);
  std::swap(memory[rank - 3], memory[rank - 2]);
  return Tensor(memory, dtype, device).Transpose(rank - 3, rank - 2);
}

AttentionOutputs Forward(const AttentionProblem& problem, const AttentionInputs& in) {
  const Device device = CommonDevice(kOp, in.query, in.key, in.value, in.mask);
  const DType dtype = in.query.dtype();
  const DType sums = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const Shape rows{Numel(problem.shape.batch), problem.shape.rows};
  AttentionOutputs out{EmptyResult(problem.shape, dtype, device), Tensor(rows, sums, device),
                       Tensor(rows, sums, device)};
  kernels::Attention(problem, in, out);
  return out;
}

// What the backward needs besides the problem.
struct SavedForBackward {
  SavedForBackward(const AttentionInputs& in, const AttentionOutputs& result)
      : query(in.query),
        key(in.key),
        value(in.value),
        out(result.out),
        mask(in.mask),
        largest(result.largest),
        log_sum(result.log_sum) {}
  AttentionInputs Inputs() const { return {query.get(), key.get(), value.get(), mask.get()}; }
  AttentionOutputs Outputs() const { return {out.get(), largest.get(), log_sum.get()}; }

  SavedActivation query, key, value, out;
  Saved mask, largest, log_sum;
};

// The shapes of the inputs before their batches were broadcast.
struct InputShapes {
  Shape query, key, value;
};

Gradients InputGradients(const AttentionProblem& problem, const SavedForBackward& saved,
                         const InputShapes& shapes, const GradContext& g) {
  const Tensor& dout = g.grad();
  const auto wanted = [&](int input, const Shape& shape) {
    return g.wants(input) ? Tensor(shape, dout.dtype(), dout.device()) : Tensor();
  };
  AttentionGradients d{wanted(0, problem.shape.Query()), wanted(1, problem.shape.Key()),
                       wanted(2, problem.shape.Value())};
  kernels::AttentionBackward(problem, saved.Inputs(), saved.Outputs(), dout, d);
  const auto summed = [](const Tensor& t, const Shape& shape) {
    return t.defined() ? SumTo(t, shape) : t;
  };
  return {summed(d.query, shapes.query), summed(d.key, shapes.key), summed(d.value, shapes.value)};
}

// `t` with rows that kernels can read, and with its batch broadcast.
Tensor Readable(const Variable& v, const Shape& shape) {
  return (LiesByRows(v.data()) ? v.data() : v.data().Contiguous()).Expand(shape);
}

Variable Attend(const Variable& query, const Variable& key, const Variable& value,
                const AttentionOptions& options) {
  CheckArguments(query, key, value, options);
  const AttentionShape shape =
      AttentionShapeOf(query.shape(), key.shape(), value.shape(), options.enable_gqa);
  const AttentionProblem problem{shape, ScaleOf(options, shape.width), options.is_causal,
                                 MakeDropout(options, shape.batch)};
  const Tensor mask = MaskOf(options, shape);
  if (options.attn_mask.defined() && options.attn_mask.requires_grad())
    return ComposedAttention(query, key, value, options.attn_mask, problem);
  const AttentionInputs in{Readable(query, shape.Query()), Readable(key, shape.Key()),
                           Readable(value, shape.Value()), mask};
  const AttentionOutputs out = Forward(problem, in);
  return Record("scaled_dot_product_attention", out.out, {query, key, value},
                [problem, saved = SavedForBackward(in, out),
                 shapes = InputShapes{query.shape(), key.shape(), value.shape()}](
                    const GradContext& g) { return InputGradients(problem, saved, shapes, g); });
}

// Kernels in the low type support no mask, or a bool mask.
bool AttendsNatively(const Variable& query, const Variable& key, const Variable& value,
                     const AttentionOptions& options) {
  const Variable& mask = options.attn_mask;
  return (!mask.defined() || mask.dtype() == DType::kBool) &&
         ComputesNatively(kOp, query, key, value);
}

}  // namespace

Variable ScaledDotProductAttention(const Variable& query, const Variable& key,
                                   const Variable& value, const AttentionOptions& options) {
  if (AttendsNatively(query, key, value, options))
    return Attend(ToLow(query), ToLow(key), ToLow(value), options);
  const auto attend = [&options](const Variable& q, const Variable& k, const Variable& v,
                                 const Variable& mask) {
    AttentionOptions with = options;
    with.attn_mask = mask;
    return Attend(q, k, v, with);
  };
  return InPrecision(kOp, attend, query, key, value, options.attn_mask);
}

}  // namespace torus::ops
