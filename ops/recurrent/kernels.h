// The kernels of recurrent cells, on the device of their tensors, which are contiguous and all f32
// or all f64.
#pragma once

#include "autograd/observe_product.h"
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

// All steps of a layer, on CPUs and in f32 alone; no team size changes bits. Tensors of states have
// an entry more than there are steps (lstm_order.h).
namespace cpu {
// x (T, N, 4 H), weight (4 H, H). Reads the initial states in h and c (T + 1, N, H), and writes the
// others and the gates (T, N, 4 H). Steps may share the memory of their gates.
void LstmSteps(const Tensor& x, const Tensor& weight, bool reverse, Tensor& h, Tensor& c,
               Tensor& gates);
// Writes dx, the gradient of x, for dh (T, N, H), that of the states behind all steps. dc (N, H) is
// the gradient of the last c, and becomes that of the initial one.
void LstmStepsBackward(const Tensor& gates, const Tensor& weight, const Tensor& c, const Tensor& dh,
                       bool reverse, Tensor& dx, Tensor& dc);
// dweight = the sum over all steps of dx^T h, for h (T, N, H) before each step.
void LstmWeightGradient(const Tensor& dx, const Tensor& h, Tensor& dweight);
// dh (N, H) of the initial h, for dx (N, 4 H) of the first step.
void LstmStateGradient(const Tensor& dx, const Tensor& weight, Tensor& dh);
}  // namespace cpu

namespace kernels {

inline bool FusesLstmSteps(Device device) { return device.kind == DeviceKind::kCpu; }

inline void LstmSteps(const Tensor& x, const Tensor& weight, bool reverse, Tensor& h, Tensor& c,
                      Tensor& gates) {
  ObserveProduct(2 * x.numel() * weight.dim(1));
  Dispatch("lstm", h.device(), [&] { cpu::LstmSteps(x, weight, reverse, h, c, gates); });
}

inline void LstmStepsBackward(const Tensor& gates, const Tensor& weight, const Tensor& c,
                              const Tensor& dh, bool reverse, Tensor& dx, Tensor& dc) {
  ObserveProduct(2 * (dx.dim(0) - 1) * dx.dim(1) * weight.numel());
  Dispatch("lstm", dx.device(),
           [&] { cpu::LstmStepsBackward(gates, weight, c, dh, reverse, dx, dc); });
}

inline void LstmWeightGradient(const Tensor& dx, const Tensor& h, Tensor& dweight) {
  ObserveProduct(2 * dx.numel() * h.dim(2));
  Dispatch("lstm", dweight.device(), [&] { cpu::LstmWeightGradient(dx, h, dweight); });
}

inline void LstmStateGradient(const Tensor& dx, const Tensor& weight, Tensor& dh) {
  ObserveProduct(2 * dx.numel() * weight.dim(1));
  Dispatch("lstm", dh.device(), [&] { cpu::LstmStateGradient(dx, weight, dh); });
}

}  // namespace kernels

}  // namespace torus
