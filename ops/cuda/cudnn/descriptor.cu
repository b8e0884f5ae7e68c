#include "ops/cuda/cudnn/descriptor.h"
#include "runtime/error.h"

namespace torus::cuda {

void CheckCudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) throw NotSupported();
  char message[512] = "";
  cudnnGetLastErrorString(message, sizeof message);
  Throw<BrokenEnvironment>("cudnn", "{} of cuDNN {}: {} {}", call, cudnnGetVersion(),
                           cudnnGetErrorString(status), message);
}

}  // namespace torus::cuda
