// f32 runs in tiles that never hold the matrix of scores, f64 in plain loops, row by row.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/attention/cpu/attention_call.h"
#include "ops/attention/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

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

// The kernels' view of a tensor of matrices; null data for an undefined one.
struct Heads {
  Heads() = default;
  explicit Heads(Tensor t) : tensor(std::move(t)), offsets(OffsetsOf(tensor)) {}
  // The stride of a single row is never used, but must be at least the row length.
  int64_t stride() const {
    const int64_t down = tensor.dim(-2) > 1 ? tensor.strides()[tensor.rank() - 2] : 1;
    return std::max<int64_t>({1, tensor.dim(-1), down});
  }
  template <class T>
  HeadMatrices<const T> Read() const {
    return {tensor.data<T>(), offsets.data(), stride()};
  }
  template <class T>
  HeadMatrices<T> Write() {
    if (!tensor.defined()) return {};
    return {tensor.mutable_data<T>(), offsets.data(), stride()};
  }
  Tensor tensor;
  std::vector<int64_t> offsets;
};

WeightDropout DropoutOf(const ops::KeyedDropout& dropout) {
  if (dropout.streams.empty()) return {};
  return {dropout.streams.data(), dropout.heads, dropout.first_head, dropout.Threshold(),
          dropout.Growth()};
}

// The call for a problem; owns the offsets that the call points to.
template <class T>
struct Bound {
  Bound(const ops::AttentionProblem& p, const ops::AttentionInputs& in)
      : q(in.query), k(in.key), v(in.value) {
    call = {std::ssize(q.offsets),
            std::ssize(k.offsets),
            p.shape.group,
            p.shape.rows,
            p.shape.keys,
            p.shape.width,
            p.shape.value_width,
            static_cast<SumOf<T>>(p.scale),
            p.causal,
            q.Read<T>(),
            k.Read<T>(),
            v.Read<T>(),
            {},
            DropoutOf(p.dropout)};
    if (in.mask.defined()) BindMask(in.mask);
  }
  void BindMask(const Tensor& t) {
    mask = Heads(t);
    const bool allows = t.dtype() == DType::kBool;
    call.mask = {allows ? t.data<bool>() : nullptr, allows ? nullptr : t.data<SumOf<T>>(),
                 mask.offsets.data(), t.strides()[t.rank() - 2], t.strides()[t.rank() - 1]};
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  Heads q, k, v, mask;
  AttentionCall<T> call;
};

// As VisitCompute, and for bf16.
template <class F>
void VisitMatrices(DType dtype, const F& f) {
  if (dtype == DType::kBF16) return f(ComputeType<BFloat16>{});
  VisitCompute(kOp, dtype, f);
}

Heads HeadsOf(const Tensor& t) { return t.defined() ? Heads(t) : Heads(); }

}  // namespace

void Attention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
               ops::AttentionOutputs& out) {
  VisitMatrices(out.out.dtype(), [&]<class T>(ComputeType<T>) {
    const Bound<T> bound(problem, in);
    using Score = SumOf<T>;
    Attention(bound.call, Heads(out.out).Write<T>(),
              {out.largest.mutable_data<Score>(), out.log_sum.mutable_data<Score>()});
  });
}

void AttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                       const ops::AttentionOutputs& out, const Tensor& dout,
                       ops::AttentionGradients& gradients) {
  const Heads result(out.out), dresult(dout);
  Heads dq = HeadsOf(gradients.query), dk = HeadsOf(gradients.key), dv = HeadsOf(gradients.value);
  VisitMatrices(dout.dtype(), [&]<class T>(ComputeType<T>) {
    const Bound<T> bound(problem, in);
    using Score = SumOf<T>;
    const RowNorms<const Score> norms{out.largest.data<Score>(), out.log_sum.data<Score>()};
    AttentionBackward(bound.call, {result.Read<T>(), dresult.Read<T>(), norms},
                      {dq.Write<T>(), dk.Write<T>(), dv.Write<T>()});
  });
}

void DropoutFactors(const ops::KeyedDropout& dropout, Tensor& factors) {
  struct {
    int64_t rows, keys;
    WeightDropout dropout;
  } const call{factors.dim(-2), factors.dim(-1), DropoutOf(dropout)};
  if (factors.numel() == 0) return;
  VisitCompute(kOp, factors.dtype(), [&]<class T>(ComputeType<T>) {
    T* p = factors.mutable_data<T>();
    ParallelFor(factors.numel() / call.keys, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        DropoutFactors(call, at / call.rows, at % call.rows, 0, call.keys, p + at * call.keys);
    });
  });
}

void FindDeadRows(const Tensor& scores, Tensor& dead) {
  VisitCompute(kOp, scores.dtype(), [&]<class T>(ComputeType<T>) {
    const int64_t keys = scores.dim(-1);
    const T* s = scores.data<T>();
    bool* out = dead.mutable_data<bool>();
    const auto hides = [](T score) { return std::isinf(score) && score < 0; };
    // Mostly the first key of a row decides.
    ParallelFor(dead.numel(), 1024, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        out[r] = std::all_of(s + r * keys, s + (r + 1) * keys, hides);
    });
  });
}

}  // namespace torus::cpu
