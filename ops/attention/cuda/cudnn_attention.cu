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

// A backward with all its tensors.
struct BackwardCall {
  ops::AttentionProblem problem;
  ops::AttentionInputs in;
  Tensor out, dout;
  Tensor statistics, means;           // of each row
  ops::AttentionGradients gradients;  // all defined
};

AttentionGradientOperands OperandsOf(const BackwardCall& c) {
  return {HeadsOf(c.in.query),      HeadsOf(c.in.key),         HeadsOf(c.in.value),
          HeadsOf(c.out),           HeadsOf(c.dout),           HeadsOf(c.gradients.query),
          HeadsOf(c.gradients.key), HeadsOf(c.gradients.value)};
}

bool AreReadable(const AttentionGradientOperands& o) {
  const auto all = {&o.query, &o.key, &o.value, &o.out, &o.dout, &o.dquery, &o.dkey, &o.dvalue};
  return std::all_of(all.begin(), all.end(),
                     [](const auto* operand) { return IsReadable(*operand); });
}

bool RunBackward(BackwardCall& c, StreamHandle stream) {
  const AttentionSizes sizes = SizesOf(c.problem, c.in.query.dtype());
  const float scale = static_cast<float>(c.problem.scale);
  std::vector<const void*> addresses{c.in.query.raw(),
                                     c.in.key.raw(),
                                     c.in.value.raw(),
                                     c.out.raw(),
                                     c.dout.raw(),
                                     c.statistics.raw(),
                                     c.means.mutable_raw(),
                                     c.gradients.query.mutable_raw(),
                                     c.gradients.key.mutable_raw(),
                                     c.gradients.value.mutable_raw(),
                                     &scale,
                                     &kOne};
  AddScalars(sizes, addresses);
  return Run(AttentionGradientGraph(sizes, OperandsOf(c)), addresses, c.dout, stream);
}

// Of the samples [first, first + count) of a batch of (samples, heads).
BackwardCall OfSamples(const BackwardCall& c, int64_t first, int64_t count) {
  BackwardCall part = c;
  part.problem.shape.batch[0] = part.problem.shape.key_batch[0] = count;
  const auto narrow = [&](Tensor& t, int64_t lines) {
    t = t.Narrow(0, first * lines, count * lines);
  };
  for (Tensor* t : {&part.in.query, &part.in.key, &part.in.value, &part.out, &part.dout,
                    &part.gradients.query, &part.gradients.key, &part.gradients.value})
    narrow(*t, 1);
  for (Tensor* t : {&part.statistics, &part.means}) narrow(*t, c.problem.shape.batch[1]);
  return part;
}

// Where cuDNN has no plan for the whole batch, most likely for want of workspace, in halves.
bool RunInParts(BackwardCall& c, StreamHandle stream) {
  if (RunBackward(c, stream)) return true;
  const Shape& batch = c.problem.shape.batch;
  if (batch.rank() < 2 || batch[0] < 2) return false;
  const int64_t half = batch[0] / 2;
  BackwardCall first = OfSamples(c, 0, half), second = OfSamples(c, half, batch[0] - half);
  return RunInParts(first, stream) && RunInParts(second, stream);
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
  const ops::AttentionShape& shape = problem.shape;
  BackwardCall call{.problem = problem, .in = in, .out = out.out, .dout = dout};
  call.gradients = {Room(gradients.query, shape.Query(), dout),
                    Room(gradients.key, shape.Key(), dout),
                    Room(gradients.value, shape.Value(), dout)};
  if (!AreReadable(OperandsOf(call))) return false;
  call.statistics = Statistics(out);
  call.means = Tensor(out.largest.shape(), DType::kF32, dout.device());
  return RunInParts(call, stream);
}

}  // namespace torus::cuda
