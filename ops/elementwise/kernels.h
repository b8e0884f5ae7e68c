// The kernels of point-wise ops, on the device of their tensors. `op` is the name in errors. All
// throw BadInput for values that are neither f32 nor f64, unless stated otherwise.
#pragma once

#include "ops/elementwise/cpu/elementwise.h"
#include "ops/elementwise/cpu/map.h"
#include "ops/elementwise/cuda/elementwise.h"
#include "ops/elementwise/cuda/map.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// out = what(a, b). a and b have any strides and broadcast to the shape of the contiguous out; all
// have one dtype. On a GPU, sums and products may be bf16 or f16, computed in f32 and rounded once,
// and a sum may add an f32 operand to such a one, into f32.
inline void Binary(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
                   Tensor& out) {
  AtDoor(
      op, out.device(), [&] { cpu::Binary(op, what, a, b, out); },
      [&](StreamHandle stream) { cuda::Binary(op, what, a, b, out, stream); });
}

// out (bool) = whether what(a, b) holds; always false with NaN. Strides and shapes as for Binary.
inline void Compare(std::string_view op, ops::CompareOp what, const Tensor& a, const Tensor& b,
                    Tensor& out) {
  AtDoor(
      op, out.device(), [&] { cpu::Compare(op, what, a, b, out); },
      [&](StreamHandle stream) { cuda::Compare(op, what, a, b, out, stream); });
}

// out = mask (bool) ? a : b. Strides and shapes as for Binary.
inline void Select(std::string_view op, const Tensor& mask, const Tensor& a, const Tensor& b,
                   Tensor& out) {
  AtDoor(
      op, out.device(), [&] { cpu::Select(op, mask, a, b, out); },
      [&](StreamHandle stream) { cuda::Select(op, mask, a, b, out, stream); });
}

// mask[i, j] (bool, contiguous) = whether j - i is in [low, high].
inline void Band(std::string_view op, int64_t low, int64_t high, Tensor& mask) {
  AtDoor(
      op, mask.device(), [&] { cpu::Band(low, high, mask); },
      [&](StreamHandle stream) { cuda::Band(op, low, high, mask, stream); });
}

// y = f.Forward(x) for every element, with a functor f as described in math_functors.h. x and y are
// contiguous, of one shape and dtype: f32, f64 or bf16, which is computed in f32 and rounded once.
template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y) {
  AtDoor(
      op, y.device(), [&] { cpu::MapForward(op, f, x, y); },
      [&](StreamHandle stream) { cuda::MapForward(op, f, x, y, stream); });
}

// dx = f.Backward(kept, dy), where `kept` is y if F::kKeepsOutput, else x.
template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy,
                 Tensor& dx) {
  AtDoor(
      op, dx.device(), [&] { cpu::MapBackward(op, f, kept, dy, dx); },
      [&](StreamHandle stream) { cuda::MapBackward(op, f, kept, dy, dx, stream); });
}

}  // namespace torus::kernels
