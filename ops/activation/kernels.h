// The kernels of SwiGLU, on the device of their tensors, which are contiguous and of one shape and
// dtype: f32, f64, or on a GPU also bf16 or f16, computed in f32 and rounded once.
#pragma once

#include "runtime/kernel_table.h"

namespace torus {

// y = silu(gate) * up
TORUS_KERNEL(Swiglu, "swiglu", y.device(), (const Tensor& gate, const Tensor& up, Tensor& y),
             (gate, up, y));

// The gradients of both inputs from that of y.
TORUS_KERNEL(SwigluBackward, "swiglu", dgate.device(),
             (const Tensor& gate, const Tensor& up, const Tensor& dy, Tensor& dgate, Tensor& dup),
             (gate, up, dy, dgate, dup));

}  // namespace torus
