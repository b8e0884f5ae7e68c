// The kernels of optimizers: each makes one pass over the tensors of all parameters, which must be
// on one device.
#pragma once

#include <vector>

#include "parallel/optim/cpu/updates.h"
#include "parallel/optim/cuda/updates.h"
#include "parallel/optim/norm_block.h"
#include "runtime/error.h"
#include "runtime/gpu_door.h"

namespace torus::parallel::kernels {

// The device of the tensors; the CPU if there are none. Throws BadInput if they are on different
// devices.
inline Device DeviceOfAll(const std::vector<Tensor>& tensors) {
  Device device;
  for (const Tensor& tensor : tensors) device = CommonDevice("optimizer", tensors.front(), tensor);
  return device;
}

// Throws BadInput unless Prepare has seen as many gradients. Called before anything changes.
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

// An uninitialised tensor with an element for each block of the gradients (contiguous), on their
// device.
inline Tensor RoomForBlocks(const std::vector<Tensor>& gradients, DType dtype) {
  int64_t blocks = 0;
  for (const Tensor& gradient : gradients) blocks += NormBlocks(gradient.numel());
  return Tensor({blocks}, dtype, DeviceOfAll(gradients));
}

// The sum of squares of each block of kNormBlock elements of each gradient, in f64, one gradient
// after another. Does not wait for a GPU. `gradients`: contiguous f32 or f64 tensors.
inline Tensor SquaredBlockNorms(const std::vector<Tensor>& gradients) {
  Tensor sums = RoomForBlocks(gradients, DType::kF64);
  if (sums.numel() == 0) return sums;
  AtDoor(
      "clip", sums.device(), [&] { cpu::SquaredBlockNorms(gradients, sums); },
      [&](StreamHandle stream) { cuda::SquaredBlockNorms(gradients, sums, stream); });
  return sums;
}

// Likewise for each block an i32; all are 0 if no element is an infinity or NaN.
inline Tensor FindNonFinite(const std::vector<Tensor>& gradients) {
  Tensor found = RoomForBlocks(gradients, DType::kI32);
  if (found.numel() == 0) return found;
  AtDoor(
      "finite_check", found.device(), [&] { cpu::FindNonFinite(gradients, found); },
      [&](StreamHandle stream) { cuda::FindNonFinite(gradients, found, stream); });
  return found;
}

// to[i] = from[i], rounded; from: contiguous f32 tensors, to: contiguous ones of one 16-bit dtype.
inline void RoundAll(const std::vector<Tensor>& from, std::vector<Tensor>& to) {
  std::vector<Tensor> both = from;
  both.insert(both.end(), to.begin(), to.end());
  AtDoor(
      "low_copies", DeviceOfAll(both), [&] { cpu::RoundAll(from, to); },
      [&](StreamHandle stream) { cuda::RoundAll(from, to, stream); });
}

// averages[i] += share x (weights[i] - averages[i]), for contiguous f32 or f64 tensors.
inline void MoveTowards(const std::vector<Tensor>& weights, double share,
                        std::vector<Tensor>& averages) {
  std::vector<Tensor> both = weights;
  both.insert(both.end(), averages.begin(), averages.end());
  AtDoor(
      "averages", DeviceOfAll(both), [&] { cpu::MoveTowards(weights, share, averages); },
      [&](StreamHandle stream) { cuda::MoveTowards(weights, share, averages, stream); });
}

}  // namespace torus::parallel::kernels
