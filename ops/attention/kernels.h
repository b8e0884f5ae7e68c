// The kernels of attention, on the device of their tensors. Tensors are f32 or f64, all of one
// dtype, unless stated otherwise. Query, key, value, the result and the gradients may all be bf16,
// with no mask or a bool one, or on a GPU bf16 or f16, an added mask too; sums, and the two numbers
// per row, are then f32.
#pragma once

#include "autograd/op_observer.h"
#include "ops/attention/cpu/attention.h"
#include "ops/attention/cuda/attention.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// Writes softmax(query key^T scale + mask) value to `out`. A row that may attend to no key gives
// zeros.
inline void Attention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                      ops::AttentionOutputs& out) {
  const ops::AttentionShape& shape = problem.shape;
  ObserveProduct(2 * Numel(shape.Scores()) * (shape.width + shape.value_width));
  AtDoor(
      "scaled_dot_product_attention", out.out.device(), [&] { cpu::Attention(problem, in, out); },
      [&](StreamHandle stream) { cuda::Attention(problem, in, out, stream); });
}

// Computes `gradients` from the inputs and outputs of the forward and the gradient `dout` of its
// result.
inline void AttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                              const ops::AttentionOutputs& out, const Tensor& dout,
                              ops::AttentionGradients& gradients) {
  // Products: the scores again, the gradient of the weights, and one for each gradient.
  const ops::AttentionShape& shape = problem.shape;
  const bool query = gradients.query.defined(), key = gradients.key.defined();
  const int64_t width = shape.width * (1 + query + key);
  const int64_t value_width = shape.value_width * ((query || key) + gradients.value.defined());
  ObserveProduct(2 * Numel(shape.Scores()) * (width + value_width));
  AtDoor(
      "scaled_dot_product_attention", dout.device(),
      [&] { cpu::AttentionBackward(problem, in, out, dout, gradients); },
      [&](StreamHandle stream) {
        cuda::AttentionBackward(problem, in, out, dout, gradients, stream);
      });
}

// Writes the dropout factor of each weight, 0 or 1 / (1 - p). `factors` is contiguous, (batch...,
// rows, keys).
inline void DropoutFactors(const ops::KeyedDropout& dropout, Tensor& factors) {
  AtDoor(
      "scaled_dot_product_attention", factors.device(),
      [&] { cpu::DropoutFactors(dropout, factors); },
      [&](StreamHandle stream) { cuda::DropoutFactors(dropout, factors, stream); });
}

// Writes to dead (..., 1), bool, whether a whole row of scores (..., keys) is -inf. Both are
// contiguous.
inline void FindDeadRows(const Tensor& scores, Tensor& dead) {
  AtDoor(
      "scaled_dot_product_attention", dead.device(), [&] { cpu::FindDeadRows(scores, dead); },
      [&](StreamHandle stream) { cuda::FindDeadRows(scores, dead, stream); });
}

}  // namespace torus::kernels
