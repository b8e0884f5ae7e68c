// What optimizers ask of a device: one pass over the tensors of all parameters. All of one call lie
// on one device.
#pragma once

#include <vector>

#include "parallel/optim/cpu/updates.h"
#include "parallel/optim/cuda/updates.h"
#include "runtime/door.h"

namespace torus::parallel::kernels {

// Where the tensors lie; the CPU for none. BadInput where they lie on different devices.
inline Device DeviceOfAll(const std::vector<Tensor>& tensors) {
  Device device;
  for (const Tensor& tensor : tensors) device = CommonDevice("optimizer", tensors.front(), tensor);
  return device;
}

// The updates of sgd_kernel.h.
inline void SgdStep(std::vector<SgdItem>& items) {
  if (items.empty()) return;
  AtDoor(
      "sgd", items.front().parameter.device(), [&] { cpu::SgdStep(items); },
      [&](StreamHandle stream) { cuda::SgdStep(items, stream); });
}

// The updates of adam_kernel.h.
inline void AdamStep(std::vector<AdamItem>& items) {
  if (items.empty()) return;
  AtDoor(
      "adam", items.front().parameter.device(), [&] { cpu::AdamStep(items); },
      [&](StreamHandle stream) { cuda::AdamStep(items, stream); });
}

// The sum of squares of each block of kNormBlock elements of each gradient, in f64. Contiguous f32
// or f64 tensors.
inline std::vector<std::vector<double>> SquaredBlockNorms(const std::vector<Tensor>& gradients) {
  std::vector<std::vector<double>> sums;
  AtDoor(
      "clip", DeviceOfAll(gradients), [&] { sums = cpu::SquaredBlockNorms(gradients); },
      [&](StreamHandle stream) { sums = cuda::SquaredBlockNorms(gradients, stream); });
  return sums;
}

// Whether no element of contiguous f32 or f64 tensors is an infinity or NaN.
inline bool AllFinite(const std::vector<Tensor>& gradients) {
  bool finite = true;
  AtDoor(
      "finite_check", DeviceOfAll(gradients), [&] { finite = cpu::AllFinite(gradients); },
      [&](StreamHandle stream) { finite = cuda::AllFinite(gradients, stream); });
  return finite;
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
