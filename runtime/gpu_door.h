// The door (runtime/door.h) of what has a kernel for GPUs too:
//
//   inline void Softmax(const Tensor& x, Tensor& y) {
//     AtDoor("softmax", y.device(), [&] { cpu::Softmax(x, y); },
//            [&](StreamHandle stream) { cuda::Softmax(x, y, stream); });
//   }
#pragma once

#include <string_view>

#include "runtime/door.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"

namespace torus {

namespace internal {
void UseGpu(Device device);  // makes it the calling thread's
}  // namespace internal

// Calls `cpu` for a CPU, nothing for meta. For a GPU it makes that GPU the thread's current one and
// calls `cuda` with the thread's current stream. Throws BadInput for a GPU if the build has no
// CUDA; `cuda` is then not compiled.
template <class Cpu, class Cuda>
void AtDoor(std::string_view op, Device device, const Cpu& cpu, const Cuda& cuda) {
  if (device.kind == DeviceKind::kCpu) return cpu();
  if (device.kind == DeviceKind::kMeta) return;
  if constexpr (kHasCuda) {
    internal::UseGpu(device);
    cuda(CurrentStream(device));
  } else {
    internal::FailNoKernel(op, device);
  }
}

}  // namespace torus
