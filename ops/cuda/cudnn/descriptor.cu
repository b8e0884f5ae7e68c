#include "ops/cuda/cudnn/descriptor.h"
#include "runtime/error.h"

namespace torus::cuda {
namespace {

template <class Kind>
[[noreturn]] void Fail(cudnnStatus_t status, const char* call) {
  char message[512] = "";
  cudnnGetLastErrorString(message, sizeof message);
  Throw<Kind>("cudnn", "{} of cuDNN {}: {} {}", call, cudnnGetVersion(),
              cudnnGetErrorString(status), message);
}

}  // namespace

void CheckCudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const bool unsupported = CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
  if (unsupported) Fail<NotSupported>(status, call);
  Fail<BrokenEnvironment>(status, call);
}

}  // namespace torus::cuda
