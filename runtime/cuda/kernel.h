// The only header through which kernels see CUDA; include it after all others. For nvcc it is CUDA
// itself; for a host compiler (--config=emulated_gpu, and tests) it is an emulation that runs
// kernels on the CPU. Only this file contains `<<<...>>>`.
#pragma once

#ifndef __CUDACC__
#include "runtime/emulated_gpu/kernel.h"
#else

#include <cuda_runtime.h>

#include <cstddef>
#include <string_view>

#include "runtime/cuda_api.h"

namespace torus::cuda {

// Launches kernel(args...) in the stream (null: the current device's default one), with `grid`
// blocks of `block` threads and `shared_bytes` of dynamic shared memory (at most 48 KiB). Throws
// BrokenEnvironment tagged `op` if CUDA refuses.
// clang-format off
template <class... Params, class... Args>
void Launch(std::string_view op, dim3 grid, dim3 block, size_t shared_bytes, StreamHandle stream,
            void (*kernel)(Params...), const Args&... args) {
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(args...);
  CheckLaunch(op);
}
// clang-format on

// The block's dynamic shared memory, aligned to 16 bytes.
template <class T>
__device__ T* DynamicShared() {
  extern __shared__ __align__(16) unsigned char torus_dynamic_shared[];
  return reinterpret_cast<T*>(torus_dynamic_shared);
}

}  // namespace torus::cuda

#endif  // __CUDACC__
