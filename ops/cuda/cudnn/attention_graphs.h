// Attention and its gradient as graphs (FlashAttention-2, Dao 2023). cuDNN recognizes them and
// computes each in one kernel that never holds the matrix of scores. In the graphs, queries, keys
// and values are (batch, heads, rows, width); equal groups of query heads share a key head.
#pragma once

#include "ops/cuda/cudnn/graph.h"

namespace torus::cuda {

struct AttentionSizes {
  int64_t batch, heads, key_heads, rows, keys, width, value_width;
  bool causal;  // row i attends to keys 0 to i
  DType dtype;  // of everything but sums: bf16 or f16
};

// The layout of an operand: strides of (batch, heads, rows, width), the last of which is 1, and the
// alignment of its address in bytes.
struct HeadsOperand {
  Sizes strides;
  int64_t alignment = 16;
};

// Tensors 0 to 4: query, key, value, out, and the log of the sum of exponentials of each row
// (batch, heads, rows), f32. By value: 5 the scale; 6, if causal, -inf.
Graph AttentionGraph(const AttentionSizes& sizes, const HeadsOperand& query,
                     const HeadsOperand& key, const HeadsOperand& value, const HeadsOperand& out);

// The layouts of the gradient graph's operands; tensors not named here are contiguous.
struct AttentionGradientOperands {
  HeadsOperand query, key, value, out, dout;
  HeadsOperand dquery, dkey, dvalue;
};

// Tensors 0 to 5: query, key, value, out, dout, the forward's statistics; 6: f32 scratch, one
// number per row; 7 to 9: the gradients of query, key and value. By value: 10 the
// scale; 11 one; 12, if causal, -inf. All sums have a fixed order; for that, cuDNN keeps the
// gradients of the scores, 2 bytes each, in its workspace.
Graph AttentionGradientGraph(const AttentionSizes& sizes,
                             const AttentionGradientOperands& operands);

}  // namespace torus::cuda
