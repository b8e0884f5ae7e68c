// A step of an LSTM behind its products, in one pass forward and one backward.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// Hidden state and cell state behind a step.
struct LstmCellState {
  Variable h, c;  // (N, hidden)
};

// With gates i, f, g and o side by side in from_input + from_state, both (N, 4 hidden), and c (N,
// hidden): c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c') (Hochreiter and
// Schmidhuber 1997 with the forget gate of Gers et al. 2000, as torch.nn.LSTM). f32 or f64, all of
// one dtype, any strides. h' and c' are views of one tensor. Throws BadInput for other shapes and
// dtypes.
LstmCellState LstmCell(const Variable& from_input, const Variable& from_state, const Variable& c);

}  // namespace torus::ops
