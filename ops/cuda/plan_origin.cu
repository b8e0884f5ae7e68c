#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include "ops/cuda/plan_origin.h"
#include "runtime/error.h"

namespace torus::cuda {

PlanOrigin OriginOf(Device gpu) {
  cudaDeviceProp properties{};
  const cudaError_t status = cudaGetDeviceProperties(&properties, gpu.index);
  if (status != cudaSuccess)
    Throw<BrokenEnvironment>("plans", "cudaGetDeviceProperties on {}: {}", gpu,
                             cudaGetErrorString(status));
  return {properties.name, std::to_string(cublasLtGetVersion()), std::to_string(cudnnGetVersion())};
}

}  // namespace torus::cuda
