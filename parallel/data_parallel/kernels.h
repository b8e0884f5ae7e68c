// What gradient buckets ask of a device.
#pragma once

#include <vector>

#include "parallel/data_parallel/cpu/copies.h"
#include "parallel/data_parallel/cuda/copies.h"
#include "runtime/gpu_door.h"

namespace torus::parallel::kernels {

// Copies of items that all lie on one device, in its current stream: on a GPU one kernel a dtype.
// What is written by one is read by none.
inline void CopyAll(std::vector<CopyItem>& items) {
  if (items.empty()) return;
  AtDoor(
      "copy_all", items.front().to.device(), [&] { cpu::CopyAll(items); },
      [&](StreamHandle stream) { cuda::CopyAll(items, stream); });
}

}  // namespace torus::parallel::kernels
