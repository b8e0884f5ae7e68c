// The kernels of gradient buckets.
#pragma once

#include <vector>

#include "parallel/data_parallel/cpu/copies.h"
#include "parallel/data_parallel/cuda/copies.h"
#include "runtime/gpu_door.h"

namespace torus::parallel::kernels {

// Makes the copies of all items, which must be on one device, in its current stream; on a GPU with
// one kernel per dtype. No item may read what another writes.
inline void CopyAll(std::vector<CopyItem>& items) {
  if (items.empty()) return;
  AtDoor(
      "copy_all", items.front().to.device(), [&] { cpu::CopyAll(items); },
      [&](StreamHandle stream) { cuda::CopyAll(items, stream); });
}

}  // namespace torus::parallel::kernels
