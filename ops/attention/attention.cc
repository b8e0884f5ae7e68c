#include "ops/attention/attention.h"

#include <cmath>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/attention/attention_shape.h"
#include "ops/attention/composed.h"
#include "ops/attention/weight_dropout.h"
#include "ops/reduction/sum.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

// `t` itself where a kernel can read its rows, else a copy.
Tensor Readable(const Tensor& t) {
  const int64_t across = t.strides()[t.rank() - 1], down = t.strides()[t.rank() - 2];
  const bool rows = (across == 1 || t.dim(-1) <= 1) && (down >= t.dim(-1) || t.dim(-2) <= 1);
  return rows ? t : t.Contiguous();
}

// Where each matrix of the batch starts, in elements; strides of 0 repeat.
std::vector<int64_t> OffsetsOf(const Tensor& t) {
  std::vector<int64_t> offsets{0};
  for (int d = 0; d + 2 < t.rank(); ++d) {
    std::vector<int64_t> finer;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < t.dim(d); ++i) finer.push_back(offset + i * t.strides()[d]);
    offsets = std::move(finer);
  }
  return offsets;
}

// A tensor of matrices as the kernels see it.
struct Heads {
  Heads() = default;
  explicit Heads(Tensor t) : tensor(std::move(t)), offsets(OffsetsOf(tensor)) {}
  // A stride over a single row is never taken, but must not be less than a row.
  int64_t stride() const {
    const int64_t down = tensor.dim(-2) > 1 ? tensor.strides()[tensor.rank() - 2] : 1;
    return std::max<int64_t>({1, tensor.dim(-1), down});
  }
  template <class T>
  cpu::HeadMatrices<const T> Read() const {
    return {tensor.data<T>(), offsets.data(), stride()};
  }
  template <class T>
  cpu::HeadMatrices<T> Write() {
    return {tensor.mutable_data<T>(), offsets.data(), stride()};
  }
  Tensor tensor;
  std::vector<int64_t> offsets;
};

// One attention: what forward and backward share.
struct Problem {
  AttentionShape shape;
  double scale;
  bool causal;
  KeyedDropout dropout;
  Saved mask;
  Shape query_shape, key_shape, value_shape;  // as they came
};

// With their batches expanded.
struct Inputs {
  Tensor q, k, v;
};

// The kernel's view of a problem; holds the offsets that it points to.
template <class T>
struct Bound {
  Bound(const Problem& p, const Inputs& in) : q(in.q), k(in.k), v(in.v) {
    call = {std::ssize(q.offsets),
            std::ssize(k.offsets),
            p.shape.group,
            p.shape.rows,
            p.shape.keys,
            p.shape.width,
            p.shape.value_width,
            static_cast<T>(p.scale),
            p.causal,
            q.Read<T>(),
            k.Read<T>(),
            v.Read<T>(),
            {},
            p.dropout.Kernel()};
    if (p.mask.defined()) BindMask(p.mask.get());
  }
  void BindMask(const Tensor& t) {
    mask = Heads(t);
    const bool allows = t.dtype() == DType::kBool;
    call.mask = {allows ? t.data<bool>() : nullptr, allows ? nullptr : t.data<T>(),
                 mask.offsets.data(), t.strides()[t.rank() - 2], t.strides()[t.rank() - 1]};
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  Heads q, k, v, mask;
  cpu::AttentionCall<T> call;
};

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

// (batch..., heads, L, Ev) over memory (batch..., L, heads, Ev).
Tensor EmptyResult(const AttentionShape& shape, const Tensor& like) {
  Shape memory = shape.Out();
  const int rank = memory.rank();
  if (rank < 3) return Tensor(memory, like.dtype(), like.device());
  std::swap(memory[rank - 3], memory[rank - 2]);
  return Tensor(memory, like.dtype(), like.device()).Transpose(rank - 3, rank - 2);
}

// What the backward keeps besides the problem.
struct Kept {
  SavedActivation q, k, v, out;
  Saved largest, log_sum;
};

Gradients Backpropagate(const Problem& p, const Kept& kept, const GradContext& g) {
  const Tensor& like = g.grad();
  Heads dq(Empty(p.shape.Query(), like.dtype(), like.device()));
  Heads dk(Empty(p.shape.Key(), like.dtype(), like.device()));
  Heads dv(Empty(p.shape.Value(), like.dtype(), like.device()));
  const Inputs in{kept.q.get(), kept.k.get(), kept.v.get()};
  const Heads out(kept.out.get()), dout(like);
  VisitCompute(kOp, like.dtype(), [&]<class T>(ComputeType<T>) {
    const Bound<T> bound(p, in);
    const cpu::RowNorms<const T> norms{kept.largest.get().data<T>(), kept.log_sum.get().data<T>()};
    cpu::AttentionBackward(bound.call, {out.Read<T>(), dout.Read<T>(), norms}, dq.Write<T>(),
                           dk.Write<T>(), dv.Write<T>());
  });
  return {g.wants(0) ? SumTo(dq.tensor, p.query_shape) : Tensor(),
          g.wants(1) ? SumTo(dk.tensor, p.key_shape) : Tensor(),
          g.wants(2) ? SumTo(dv.tensor, p.value_shape) : Tensor()};
}

Tensor RunForward(const Problem& p, const Inputs& in, Tensor& largest, Tensor& log_sum) {
  Heads out(EmptyResult(p.shape, in.q));
  VisitCompute(kOp, out.tensor.dtype(), [&]<class T>(ComputeType<T>) {
    const Bound<T> bound(p, in);
    cpu::Attention(bound.call, out.Write<T>(),
                   {largest.mutable_data<T>(), log_sum.mutable_data<T>()});
  });
  return out.tensor;
}

}  // namespace

Variable ScaledDotProductAttention(const Variable& query, const Variable& key,
                                   const Variable& value, const AttentionOptions& options) {
  CheckArguments(query, key, value, options);
  const AttentionShape shape =
      AttentionShapeOf(query.shape(), key.shape(), value.shape(), options.enable_gqa);
  const double scale = ScaleOf(options, shape.width);
  const KeyedDropout dropout = MakeDropout(options, shape.batch);
  const Tensor mask = MaskOf(options, shape);
  if (options.attn_mask.defined() && options.attn_mask.requires_grad())
    return ComposedAttention(query, key, value, options, shape, dropout, scale);
  const auto read = [](const Variable& v, const Shape& wanted) {
    return Readable(v.data()).Expand(wanted);
  };
  const Inputs in{read(query, shape.Query()), read(key, shape.Key()), read(value, shape.Value())};
  const Problem p{shape,       scale,         options.is_causal, dropout,
                  Saved(mask), query.shape(), key.shape(),       value.shape()};
  const Shape rows{Numel(shape.batch), shape.rows};
  Tensor largest(rows, query.dtype(), query.data().device());
  Tensor log_sum(rows, query.dtype(), query.data().device());
  const Tensor out = RunForward(p, in, largest, log_sum);
  return Record("scaled_dot_product_attention", out, {query, key, value},
                [p, kept = Kept{SavedActivation(in.q), SavedActivation(in.k), SavedActivation(in.v),
                                SavedActivation(out), Saved(largest), Saved(log_sum)}](
                    const GradContext& g) { return Backpropagate(p, kept, g); });
}

}  // namespace torus::ops
