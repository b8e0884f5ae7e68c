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

// A tensor (batch..., heads, rows, width), stored as (batch..., rows, heads, width): joining the
// heads needs no copy.
Tensor EmptyByRows(const Shape& shape, DType dtype, Device device) {
  Shape memory = shape;
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
  AttentionOutputs out{EmptyByRows(problem.shape.Out(), dtype, device), Tensor(rows, sums, device),
                       Tensor(rows, sums, device)};
  kernels::Attention(problem, in, out);
  return out;
}

// Whether they are (batch, heads, L, E) and one of three in each row of one tensor (batch, L, 3,
// heads, E), in this order: a packed projection, whose parts are viewed by heads.
bool ArePacked(const Tensor& query, const Tensor& key, const Tensor& value) {
  if (query.rank() != 4 || query.numel() == 0) return false;
  const int64_t heads = query.dim(1), rows = query.dim(2), width = query.dim(3);
  const Shape step{3 * rows * heads * width, width, 3 * heads * width, 1};
  const Tensor* const all[] = {&query, &key, &value};
  for (int i = 0; i < 3; ++i) {
    const Tensor& t = *all[i];
    if (t.shape() != query.shape() || t.storage() != query.storage() ||
        t.offset() != query.offset() + i * heads * width)
      return false;
    for (int d = 0; d < 4; ++d)
      if (t.dim(d) > 1 && t.strides()[d] != step[d]) return false;
  }
  return true;
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

AttentionGradients SeparateGradients(const AttentionShape& shape, const GradContext& g) {
  const auto wanted = [&](int input, const Shape& of) {
    return g.wants(input) ? EmptyByRows(of, g.grad().dtype(), g.grad().device()) : Tensor();
  };
  return {wanted(0, shape.Query()), wanted(1, shape.Key()), wanted(2, shape.Value())};
}

// As ArePacked describes: joining the three needs no copy either.
AttentionGradients PackedGradients(const Shape& heads, const Tensor& dout) {
  const Tensor packed({heads[0], heads[2], 3, heads[1], heads[3]}, dout.dtype(), dout.device());
  const Tensor apart = packed.Permute({2, 0, 3, 1, 4});
  return {apart.Select(0, 0), apart.Select(0, 1), apart.Select(0, 2)};
}

Gradients InputGradients(const AttentionProblem& problem, const SavedForBackward& saved,
                         const InputShapes& shapes, const GradContext& g) {
  const Tensor& dout = g.grad();
  const AttentionInputs in = saved.Inputs();
  AttentionGradients d =
      g.wants(0) && g.wants(1) && g.wants(2) && ArePacked(in.query, in.key, in.value)
          ? PackedGradients(in.query.shape(), dout)
          : SeparateGradients(problem.shape, g);
  kernels::AttentionBackward(problem, in, saved.Outputs(), dout, d);
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

bool IsAdded(const Variable& mask) { return mask.defined() && mask.dtype() != DType::kBool; }

// Kernels in the low type take a bool mask; those of GPUs an added one too, but give no gradient of
// it.
bool AttendsNatively(const Variable& query, const Variable& key, const Variable& value,
                     const AttentionOptions& options) {
  const Variable& mask = options.attn_mask;
  if (!IsAdded(mask)) return ComputesNatively(kOp, query, key, value);
  return !mask.requires_grad() && mask.data().device().kind == DeviceKind::kCuda &&
         ComputesNatively(kOp, query, key, value, mask);
}

}  // namespace

Variable ScaledDotProductAttention(const Variable& query, const Variable& key,
                                   const Variable& value, const AttentionOptions& options) {
  if (AttendsNatively(query, key, value, options)) {
    AttentionOptions low = options;
    if (IsAdded(low.attn_mask)) low.attn_mask = ToLow(low.attn_mask);
    return Attend(ToLow(query), ToLow(key), ToLow(value), low);
  }
  const auto attend = [&options](const Variable& q, const Variable& k, const Variable& v,
                                 const Variable& mask) {
    AttentionOptions with = options;
    with.attn_mask = mask;
    return Attend(q, k, v, with);
  };
  return InPrecision(kOp, attend, query, key, value, options.attn_mask);
}

}  // namespace torus::ops
