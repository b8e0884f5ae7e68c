// The kernels of recurrent cells, on the device of their tensors, which are contiguous and all f32
// or all f64.
#pragma once

#include "runtime/kernel_table.h"

namespace torus {

// gates (N, 4 H) = sigmoid, but tanh of the third quarter, of x + s; out (2, N, H) = h' and c'
// (ops/recurrent/lstm_cell.h) for the state c (N, H).
TORUS_KERNEL(LstmCell, "lstm_cell", out.device(),
             (const Tensor& x, const Tensor& s, const Tensor& c, Tensor& gates, Tensor& out),
             (x, s, c, gates, out));

// The gradients of x (also that of s) and of c, for dout, the gradient of out.
TORUS_KERNEL(LstmCellBackward, "lstm_cell", dx.device(),
             (const Tensor& gates, const Tensor& c, const Tensor& out, const Tensor& dout,
              Tensor& dx, Tensor& dc),
             (gates, c, out, dout, dx, dc));

}  // namespace torus
