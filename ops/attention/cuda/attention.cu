// 16-bit cases that cuDNN supports use cuDNN (cudnn_attention.h), other 16-bit cases our own
// kernels for tensor cores (flash_attention.h); f32, f64 and heads wider than those take use
// tile_attention.h.
#include "ops/attention/cuda/cudnn_attention.h"
#include "ops/attention/cuda/flash_attention.h"
#include "ops/attention/cuda/tile_attention.h"
#include "ops/attention/kernels.h"
#include "ops/cuda/cudnn/tensor_rules.h"
#include "runtime/kernels.h"

namespace torus::cuda {
namespace {

Tensor Widened(const Tensor& t) { return t.defined() && IsLow(t.dtype()) ? t.To(DType::kF32) : t; }

// Rows with adjacent elements, as the kernels read them.
Tensor WideRows(const Tensor& t) { return Widened(t).Contiguous(); }

// A mask has as many elements as scores; those that are one in memory are widened once.
Tensor WideMask(const Tensor& mask) {
  if (!mask.defined() || !IsLow(mask.dtype())) return mask;
  Tensor once = mask;
  for (int d = 0; d < mask.rank(); ++d)
    if (mask.strides()[d] == 0 && mask.dim(d) > 1) once = once.Narrow(d, 0, 1);
  return Widened(once).Expand(mask.shape());
}

ops::AttentionInputs WideInputs(const ops::AttentionInputs& in) {
  return {WideRows(in.query), WideRows(in.key), WideRows(in.value), WideMask(in.mask)};
}

void LowAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                  ops::AttentionOutputs& out, StreamHandle stream) {
  ops::AttentionOutputs full{Tensor(out.out.shape(), DType::kF32, out.out.device()), out.largest,
                             out.log_sum};
  TileAttention(problem, WideInputs(in), full, stream);
  Copy(full.out, out.out);
}

void LowAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                          const ops::AttentionOutputs& out, const Tensor& dout,
                          ops::AttentionGradients& gradients, StreamHandle stream) {
  const auto like = [](const Tensor& t) {
    return t.defined() ? Tensor(t.shape(), DType::kF32, t.device()) : Tensor();
  };
  ops::AttentionGradients full{like(gradients.query), like(gradients.key), like(gradients.value)};
  TileAttentionBackward(problem, WideInputs(in), {WideRows(out.out), out.largest, out.log_sum},
                        WideRows(dout), full, stream);
  if (full.query.defined()) Copy(full.query, gradients.query);
  if (full.key.defined()) Copy(full.key, gradients.key);
  if (full.value.defined()) Copy(full.value, gradients.value);
}

}  // namespace

void Attention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
               ops::AttentionOutputs& out) {
  const StreamHandle stream = CurrentStream(out.out.device());
  if (CudnnAttention(problem, in, out, stream)) return;
  if (FlashTakes(problem, in.query.dtype())) return FlashAttention(problem, in, out, stream);
  if (IsLow(in.query.dtype())) return LowAttention(problem, in, out, stream);
  TileAttention(problem, in, out, stream);
}

void AttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                       const ops::AttentionOutputs& out, const Tensor& dout,
                       ops::AttentionGradients& gradients) {
  const StreamHandle stream = CurrentStream(dout.device());
  if (CudnnAttentionBackward(problem, in, out, dout, gradients, stream)) return;
  if (FlashTakes(problem, in.query.dtype()))
    return FlashAttentionBackward(problem, in, out, dout, gradients, stream);
  if (IsLow(in.query.dtype()))
    return LowAttentionBackward(problem, in, out, dout, gradients, stream);
  TileAttentionBackward(problem, in, out, dout, gradients, stream);
}

}  // namespace torus::cuda
