#include "runtime/dispatch.h"

#include "runtime/cuda_api.h"
#include "runtime/gpu_dispatch.h"

namespace torus::internal {

void UseGpu(Device device) {
  OnDevice(
      device, [] {}, [&] { cuda::UseDevice(device.index); });
}

void FailNoKernel(std::string_view op, Device device) {
  if (kHasCuda || device.kind != DeviceKind::kCuda)
    Throw<BadInput>(op, "has no kernel for {}", device);
  Throw<BadInput>(op, "this build has no kernels for {}", device);
}

Device CommonDevice(std::string_view op, std::initializer_list<const Tensor*> tensors) {
  const Tensor* first = nullptr;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    if (tensor->device() == kMetaDevice) return kMetaDevice;
    if (first == nullptr) first = tensor;
    Require(tensor->device() == first->device(), op,
            "needs its tensors on one device, got {} and {}", *first, *tensor);
  }
  return first == nullptr ? Device{} : first->device();
}

}  // namespace torus::internal
