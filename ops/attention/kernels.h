// The kernels of attention, on the device of their tensors. Tensors are f32 or f64, all of one
// dtype, unless stated otherwise. Query, key, value, the result and the gradients may all be bf16,
// with no mask or a bool one, or on a GPU bf16 or f16, an added mask too; sums, and the two numbers
// per row, are then f32.
#pragma once

#include "autograd/observe_product.h"
#include "ops/attention/problem.h"
#include "runtime/kernel_table.h"

namespace torus {

// Writes softmax(query key^T scale + mask) value to `out`. A row that may attend to no key gives
// zeros.
TORUS_PRODUCT_KERNEL(Attention, "scaled_dot_product_attention", out.out.device(),
                     (const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                      ops::AttentionOutputs& out),
                     (problem, in, out), ops::AttentionFlops(problem.shape));

// Computes `gradients` from the inputs and outputs of the forward and the gradient `dout` of its
// result.
TORUS_PRODUCT_KERNEL(AttentionBackward, "scaled_dot_product_attention", dout.device(),
                     (const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                      const ops::AttentionOutputs& out, const Tensor& dout,
                      ops::AttentionGradients& gradients),
                     (problem, in, out, dout, gradients),
                     ops::AttentionFlops(problem.shape, gradients));

// Writes the dropout factor of each weight, 0 or 1 / (1 - p). `factors` is contiguous, (batch...,
// rows, keys).
TORUS_KERNEL(DropoutFactors, "scaled_dot_product_attention", factors.device(),
             (const ops::KeyedDropout& dropout, Tensor& factors), (dropout, factors));

// Writes to dead (..., 1), bool, whether a whole row of scores (..., keys) is -inf. Both are
// contiguous.
TORUS_KERNEL(FindDeadRows, "scaled_dot_product_attention", dead.device(),
             (const Tensor& scores, Tensor& dead), (scores, dead));

}  // namespace torus
