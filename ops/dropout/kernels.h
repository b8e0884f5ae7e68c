// The kernels of dropout, on the device of their tensors. Tensors are contiguous and of one shape.
// x and y are f32, f64 or, on a GPU, a 16-bit type, which is multiplied in f32 and rounded once.
#pragma once

#include "ops/dropout/cpu/dropout.h"
#include "ops/dropout/cuda/dropout.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// Fills `keep` (u8), which has one equal part for each stream: element i of part s is 1 if word i
// of streams[s] is at least `threshold` (p 2^32), else 0.
inline void DropoutMask(std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep) {
  AtDoor(
      "dropout", keep.device(), [&] { cpu::DropoutMask(streams, threshold, keep); },
      [&](StreamHandle stream) { cuda::DropoutMask(streams, threshold, keep, stream); });
}

// y = keep ? x * scale : 0; also the gradient.
inline void DropoutApply(const Tensor& x, const Tensor& keep, double scale, Tensor& y) {
  AtDoor(
      "dropout", y.device(), [&] { cpu::DropoutApply(x, keep, scale, y); },
      [&](StreamHandle stream) { cuda::DropoutApply(x, keep, scale, y, stream); });
}

// y = (keep ? x * scale : 0, rounded to the type of x) + residual. For GPUs alone; all f32, all of
// one 16-bit type, or x 16-bit and the others f32.
inline void DropoutAdd(const Tensor& x, const Tensor& residual, const ops::DroppedElements& dropped,
                       Tensor& y) {
  AtDoor(
      "dropout", y.device(), [&] { TORUS_CHECK(false, "a CPU drops and adds apart"); },
      [&](StreamHandle stream) { cuda::DropoutAdd(x, residual, dropped, y, stream); });
}

// dx = keep ? (dy, rounded to the type of dx) * scale : 0; for GPUs alone, types as above.
inline void DropoutGradient(const Tensor& dy, const ops::DroppedElements& dropped, Tensor& dx) {
  AtDoor(
      "dropout", dx.device(), [&] { TORUS_CHECK(false, "a CPU keeps the mask"); },
      [&](StreamHandle stream) { cuda::DropoutGradient(dy, dropped, dx, stream); });
}

}  // namespace torus::kernels
