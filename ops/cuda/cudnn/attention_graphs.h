// Attention and its gradient as graphs (FlashAttention-2, Dao 2023): cuDNN knows them by their
// operations and computes each in one kernel that never holds the matrix of scores. To the graphs
// queries, keys, values are (batch, heads, rows, width), their heads in equal groups on those of
// the keys.
#pragma once

#include "ops/cuda/cudnn/graph.h"

namespace torus::cuda {

struct AttentionSizes {
  int64_t batch, heads, key_heads, rows, keys, width, value_width;
  bool causal;  // row i sees the keys up to i
  DType dtype;  // of all but sums: bf16 or f16
};

// Where a tensor's matrices lie: strides of (batch, heads, rows, width), the last 1, and what its
// address is a multiple of.
struct HeadsOperand {
  Sizes strides;
  int64_t alignment = 16;
};

// Tensors 0 to 4: query, key, value, out and, f32, each row's statistic (batch, heads, rows), the
// logarithm of its sum of exponentials. By value: 5 the scale, 6 where it is causal -inf.
Graph AttentionGraph(const AttentionSizes& sizes, const HeadsOperand& query,
                     const HeadsOperand& key, const HeadsOperand& value, const HeadsOperand& out);

// What the gradient's graph is told of memory; all of them contiguous that are not named.
struct AttentionGradientOperands {
  HeadsOperand query, key, value, out, dout;
};

// Tensors 0 to 5: query, key, value, out, dout, the forward's statistics; 6: f32 room for a number
// for each row; 7 to 9: the gradients by query, key and value, contiguous. By value: 10 the scale,
// 11 one, 12 where it is causal -inf. No sum is made by additions whose order may change: cuDNN
// keeps the gradients of the scores, 2 bytes each, in its workspace for that.
Graph AttentionGradientGraph(const AttentionSizes& sizes,
                             const AttentionGradientOperands& operands);

}  // namespace torus::cuda
