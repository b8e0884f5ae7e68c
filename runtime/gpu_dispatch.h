// Dispatch (runtime/dispatch.h) of what has a kernel for GPUs too. runtime/kernel_table.h writes
// such calls.
#pragma once

#include <string_view>

#include "runtime/dispatch.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"

namespace torus {

namespace internal {
void UseGpu(Device device);  // makes it the calling thread's
}  // namespace internal

// Calls `cpu` for a CPU, nothing for meta. For a GPU it makes that GPU the thread's current one and
// calls `cuda`, which puts its work into the thread's CurrentStream. Throws BadInput for a GPU if
// the build has no CUDA; `cuda` is then not compiled.
template <class Cpu, class Cuda>
void Dispatch(std::string_view op, Device device, const Cpu& cpu, const Cuda& cuda) {
  if (device.kind == DeviceKind::kCpu) return cpu();
  if (device.kind == DeviceKind::kMeta) return;
  if constexpr (kHasCuda) {
    internal::UseGpu(device);
    cuda();
  } else {
    internal::FailNoKernel(op, device);
  }
}

// The same for kernels that only GPUs have: BadInput for a CPU.
template <class Cuda>
void DispatchToGpu(std::string_view op, Device device, const Cuda& cuda) {
  Dispatch(
      op, device, [&] { internal::FailNoKernel(op, device); }, cuda);
}

}  // namespace torus
