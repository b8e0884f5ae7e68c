// Whether this build has CUDA or emulated GPUs, and the choice between a call for the CPU and one
// for a GPU.
//
// A target that includes this header, directly or not, needs gpu_aware = True in its BUILD file.
// All others compile to the same objects with and without CUDA, so Bazel's cache serves both.
#pragma once

#include "runtime/device.h"

#ifndef TORUS_GPUS  // 0: none, 1: CUDA, 2: emulated
#error "a target that includes runtime/on_device.h needs gpu_aware = True in its BUILD file"
#endif

namespace torus {

inline constexpr bool kHasCuda = TORUS_GPUS != 0;

// Whether those are emulated GPUs (--config=emulated_gpu), whose kernels the CPU runs.
inline constexpr bool kEmulatedGpu = TORUS_GPUS == 2;

// Kernels are chosen in runtime/dispatch.h. `cuda` is not compiled into a build without CUDA.
template <class Cpu, class Cuda>
decltype(auto) OnDevice(Device device, Cpu&& cpu, Cuda&& cuda) {
  if constexpr (kHasCuda) {
    if (device.kind == DeviceKind::kCuda) return cuda();
  }
  return cpu();
}

}  // namespace torus
