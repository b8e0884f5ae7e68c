// The kernels of selection by index, on the device of their tensors. Values are f32 or f64, for
// SelectRows any floating type. An index is contiguous i64; call CheckIndex before using it.
#pragma once

#include "ops/indexing/cpu/indexing.h"
#include "ops/indexing/cuda/indexing.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// Throws BadInput tagged `op` for a value outside of [0, bound), naming it and its position. On a
// GPU, if the thread has DeferredChecks (runtime/deferred_checks.h), the error is thrown later and
// `index` becomes a copy that is safe to use; otherwise this waits for the stream.
inline void CheckIndex(std::string_view op, int64_t bound, Tensor& index) {
  AtDoor(
      op, index.device(), [&] { cpu::CheckIndex(op, index, bound); },
      [&](StreamHandle stream) { cuda::CheckIndex(op, bound, index, stream); });
}

// y[o, k, i] = x[o, index[k], i], both contiguous.
inline void SelectRows(std::string_view op, const Tensor& x, const Tensor& index, Tensor& y) {
  AtDoor(
      op, y.device(), [&] { cpu::SelectRows(op, x, index, y); },
      [&](StreamHandle stream) { cuda::SelectRows(op, x, index, y, stream); });
}

// dx[o, j, i] = sum of dy[o, k, i] over all k with index[k] = j, in the order of k; both
// contiguous. Skips index value `skip` (-1: none).
inline void AddRows(std::string_view op, const Tensor& dy, const Tensor& index, int64_t skip,
                    Tensor& dx) {
  AtDoor(
      op, dx.device(), [&] { cpu::AddRows(op, dy, index, skip, dx); },
      [&](StreamHandle stream) { cuda::AddRows(op, dy, index, skip, dx, stream); });
}

// Scales each row of weight (count, width) that the index has, and whose p-norm is above `most`, by
// most / (norm + 1e-7); once, however often the index has it. weight is contiguous; p is above 0
// and may be infinite.
inline void RenormRows(const Tensor& index, double most, double p, Tensor& weight) {
  AtDoor(
      "embedding", weight.device(), [&] { cpu::RenormRows(index, most, p, weight); },
      [&](StreamHandle stream) { cuda::RenormRows(index, most, p, weight, stream); });
}

// y[i][j][k] = x[index[i][j][k]][j][k] for dim 0, and so on. x and y are contiguous, y has index's
// shape.
inline void Gather(const Tensor& x, int dim, const Tensor& index, Tensor& y) {
  AtDoor(
      "gather", y.device(), [&] { cpu::Gather(x, dim, index, y); },
      [&](StreamHandle stream) { cuda::Gather(x, dim, index, y, stream); });
}

// dx[index[i][j][k]][j][k] += dy[i][j][k], those that meet in row-major order; all are contiguous.
inline void GatherBackward(const Tensor& dy, int dim, const Tensor& index, Tensor& dx) {
  AtDoor(
      "gather", dx.device(), [&] { cpu::GatherBackward(dy, dim, index, dx); },
      [&](StreamHandle stream) { cuda::GatherBackward(dy, dim, index, dx, stream); });
}

}  // namespace torus::kernels
