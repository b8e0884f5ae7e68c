// What optimizers ask of a device: one pass over the tensors of all parameters. All of one call lie
// on one device.
#pragma once

#include <vector>

#include "parallel/optim/cpu/updates.h"
#include "parallel/optim/cuda/updates.h"
#include "parallel/optim/norm_block.h"
#include "runtime/error.h"
#include "runtime/gpu_door.h"

namespace torus::parallel::kernels {

// Where the tensors lie; the CPU for none. BadInput where they lie on different devices.
inline Device DeviceOfAll(const std::vector<Tensor>& tensors) {
  Device device;
  for (const Tensor& tensor : tensors) device = CommonDevice("optimizer", tensors.front(), tensor);
  return device;
}

// Before anything changes: BadInput unless an update's Prepare has seen as many gradients.
inline void CheckPrepared(size_t items, size_t prepared) {
  Require(items == prepared, "optimizer",
          "an update is of the parameters that it was prepared for: {} had a gradient, {} have one",
          prepared, items);
}

// The updates of sgd_kernel.h.
inline void SgdStep(std::vector<SgdItem>& items, const StepScalars<SgdScalars>& scalars) {
  CheckPrepared(items.size(), scalars->size());
  if (items.empty()) return;
  AtDoor(
      "sgd", items.front().parameter.device(), [&] { cpu::SgdStep(items, *scalars); },
      [&](StreamHandle stream) { cuda::SgdStep(items, scalars, stream); });
}

// The updates of adam_kernel.h.
inline void AdamStep(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars) {
  CheckPrepared(items.size(), scalars->size());
  if (items.empty()) return;
  AtDoor(
      "adam", items.front().parameter.device(), [&] { cpu::AdamStep(items, *scalars); },
      [&](StreamHandle stream) { cuda::AdamStep(items, scalars, stream); });
}

// An uninitialised place for each block of contiguous gradients, where they lie.
inline Tensor RoomForBlocks(const std::vector<Tensor>& gradients, DType dtype) {
  int64_t blocks = 0;
  for (const Tensor& gradient : gradients) blocks += NormBlocks(gradient.numel());
  return Tensor({blocks}, dtype, DeviceOfAll(gradients));
}

// The sum of squares of each block of kNormBlock elements of each gradient, one gradient's behind
// the other's, in f64; without a wait for a GPU. Contiguous f32 or f64 tensors.
inline Tensor SquaredBlockNorms(const std::vector<Tensor>& gradients) {
  Tensor sums = RoomForBlocks(gradients, DType::kF64);
  if (sums.numel() == 0) return sums;
  AtDoor(
      "clip", sums.device(), [&] { cpu::SquaredBlockNorms(gradients, sums); },
      [&](StreamHandle stream) { cuda::SquaredBlockNorms(gradients, sums, stream); });
  return sums;
}

// Likewise i32 that are all 0 where no element is an infinity or NaN.
inline Tensor FindNonFinite(const std::vector<Tensor>& gradients) {
  Tensor found = RoomForBlocks(gradients, DType::kI32);
  if (found.numel() == 0) return found;
  AtDoor(
      "finite_check", found.device(), [&] { cpu::FindNonFinite(gradients, found); },
      [&](StreamHandle stream) { cuda::FindNonFinite(gradients, found, stream); });
  return found;
}

// averages[i] += share x (weights[i] - averages[i]); contiguous f32 or f64 tensors.
inline void MoveTowards(const std::vector<Tensor>& weights, double share,
                        std::vector<Tensor>& averages) {
  std::vector<Tensor> both = weights;
  both.insert(both.end(), averages.begin(), averages.end());
  AtDoor(
      "averages", DeviceOfAll(both), [&] { cpu::MoveTowards(weights, share, averages); },
      [&](StreamHandle stream) { cuda::MoveTowards(weights, share, averages, stream); });
}

}  // namespace torus::parallel::kernels
