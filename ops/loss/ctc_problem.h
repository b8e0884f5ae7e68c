// The sequences of a CTC loss, for its kernels.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// All tensors are contiguous and on one device, integers i64 and checked.
struct CtcProblem {
  Tensor log_probs;       // (T, N, C)
  Tensor targets;         // the labels, any shape
  Tensor starts;          // (N): where each sequence's labels start in them
  Tensor input_lengths;   // (N), in [0, T]
  Tensor target_lengths;  // (N), in [0, longest]
  int64_t longest = 0;
  int64_t blank = 0;
  bool zero_infinity = false;

  // Labels with a blank before, between and behind them.
  int64_t states() const { return 2 * longest + 1; }
};

}  // namespace torus::ops
