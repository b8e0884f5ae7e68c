#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "ops/attention/cuda/cudnn_attention.h"
#include "ops/cuda/cudnn/attention_graphs.h"
#include "ops/cuda/cudnn/run_graph.h"
#include "ops/cuda/cudnn/tensor_rules.h"
#include "runtime/kernels.h"

namespace torus::cuda {
namespace {

constexpr int64_t kWidest = 128;
constexpr int64_t kVector = 8;  // elements per 16-byte read

constexpr float kOne = 1, kMasked = -std::numeric_limits<float>::infinity();

// A size of a batch (..., heads); 1 if there is no such dimension.
int64_t FromEnd(const Shape& batch, int back) {
  return batch.rank() >= back ? batch[batch.rank() - back] : 1;
}

AttentionSizes SizesOf(const ops::AttentionProblem& problem, DType dtype) {
  const ops::AttentionShape& shape = problem.shape;
  return {.batch = FromEnd(shape.batch, 2),
          .heads = FromEnd(shape.batch, 1),
          .key_heads = FromEnd(shape.key_batch, 1),
          .rows = shape.rows,
          .keys = shape.keys,
          .width = shape.width,
          .value_width = shape.value_width,
          .causal = problem.causal,
          .dtype = dtype};
}

// A dimension of size 1 may have any stride: it gets one larger than the extent of the dimensions
// after it.
HeadsOperand HeadsOf(const Tensor& t) {
  HeadsOperand out{{0, 0, 0, 1}, AlignmentOf(t.raw())};
  int64_t next = t.dim(-1);
  for (int d = 2; d >= 0; --d) {
    const int at = t.rank() - 4 + d;
    const bool there = at >= 0 && t.dim(at) > 1;
    out.strides[static_cast<size_t>(d)] = there ? t.strides()[at] : next;
    if (there) next = std::max(next, t.strides()[at] * t.dim(at));
  }
  return out;
}

bool IsReadable(const HeadsOperand& heads) {
  return heads.alignment == 16 && std::all_of(heads.strides.begin(), heads.strides.end() - 1,
                                              [](int64_t s) { return s > 0 && s % kVector == 0; });
}

bool FitsWidth(int64_t width) { return width > 0 && width <= kWidest && width % kVector == 0; }

// cuDNN treats a single row or key as a special case, which has no gradient.
bool Takes(const ops::AttentionProblem& problem, const ops::AttentionInputs& in) {
  const ops::AttentionShape& shape = problem.shape;
  return IsLow(in.query.dtype()) && !in.mask.defined() && problem.dropout.streams.empty() &&
         shape.batch.rank() <= 2 && Numel(shape.batch) > 0 && shape.rows > 1 && shape.keys > 1 &&
         FitsWidth(shape.width) && FitsWidth(shape.value_width);
}

// The forward's statistics, log sum_j exp(score_j), whichever forward wrote them.
Tensor Statistics(const ops::AttentionOutputs& out) {
  Tensor sum = out.largest.Clone();
  AddInPlace(sum, out.log_sum);
  return sum;
}

// A gradient that is not wanted is computed anyway, into scratch memory.
Tensor Room(const Tensor& wanted, const Shape& shape, const Tensor& like) {
  return wanted.defined() ? wanted : Tensor(shape, like.dtype(), like.device());
}

void AddScalars(const AttentionSizes& sizes, std::vector<const void*>& addresses) {
  if (sizes.causal) addresses.push_back(&kMasked);
}

bool Run(const Graph& graph, std::vector<const void*> addresses, const Tensor& on,
         StreamHandle stream) {
  addresses.resize(graph.tensors.size(), nullptr);  // virtual ones
  return RunGraph(graph, RulesFor(on.dtype()), addresses, on.device(), stream);
}

}  // namespace

bool CudnnAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                    ops::AttentionOutputs& out, StreamHandle stream) {
  if (!Takes(problem, in)) return false;
  const HeadsOperand q = HeadsOf(in.query), k = HeadsOf(in.key), v = HeadsOf(in.value),
                     result = HeadsOf(out.out);
  for (const HeadsOperand* operand : {&q, &k, &v, &result})
    if (!IsReadable(*operand)) return false;
  const AttentionSizes sizes = SizesOf(problem, in.query.dtype());
  const float scale = static_cast<float>(problem.scale);
  std::vector<const void*> addresses{in.query.raw(),
                                     in.key.raw(),
                                     in.value.raw(),
                                     out.out.mutable_raw(),
                                     out.largest.mutable_raw(),
                                     &scale};
  AddScalars(sizes, addresses);
  if (!Run(AttentionGraph(sizes, q, k, v, result), addresses, in.query, stream)) return false;
  Fill(out.log_sum, 0);
  return true;
}

bool CudnnAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                            const ops::AttentionOutputs& out, const Tensor& dout,
                            ops::AttentionGradients& gradients, StreamHandle stream) {
  if (!Takes(problem, in)) return false;
  Tensor dq = Room(gradients.query, problem.shape.Query(), dout);
  Tensor dk = Room(gradients.key, problem.shape.Key(), dout);
  Tensor dv = Room(gradients.value, problem.shape.Value(), dout);
  const AttentionGradientOperands o{HeadsOf(in.query), HeadsOf(in.key), HeadsOf(in.value),
                                    HeadsOf(out.out),  HeadsOf(dout),   HeadsOf(dq),
                                    HeadsOf(dk),       HeadsOf(dv)};
  for (const HeadsOperand* operand :
       {&o.query, &o.key, &o.value, &o.out, &o.dout, &o.dquery, &o.dkey, &o.dvalue})
    if (!IsReadable(*operand)) return false;
  const AttentionSizes sizes = SizesOf(problem, in.query.dtype());
  const Tensor statistics = Statistics(out);
  Tensor means(out.largest.shape(), DType::kF32, dout.device());
  const float scale = static_cast<float>(problem.scale);
  std::vector<const void*> addresses{in.query.raw(),      in.key.raw(),     in.value.raw(),
                                     out.out.raw(),       dout.raw(),       statistics.raw(),
                                     means.mutable_raw(), dq.mutable_raw(), dk.mutable_raw(),
                                     dv.mutable_raw(),    &scale,           &kOne};
  AddScalars(sizes, addresses);
  return Run(AttentionGradientGraph(sizes, o), addresses, dout, stream);
}

}  // namespace torus::cuda
