// Dispatch: the choice between the kernels of devices, made in one place.
//
// A family of ops declares in its kernels.h, in Tensors, what it asks of a device
// (runtime/kernel_table.h). What has no kernel for GPUs calls
//
//   Dispatch("softmax", y.device(), [&] { cpu::Softmax(x, y); });
//
// With one there is one more argument (runtime/gpu_dispatch.h). On the device `meta` nothing is
// done.
#pragma once

#include <initializer_list>
#include <string_view>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace torus {

namespace internal {
// BadInput: the op has no kernel for the device, or the build none at all.
[[noreturn]] void FailNoKernel(std::string_view op, Device device);
Device CommonDevice(std::string_view op, std::initializer_list<const Tensor*> tensors);
}  // namespace internal

// Runs `cpu` for a CPU, nothing for meta. BadInput for a GPU: the op has no kernel there.
template <class Cpu>
void Dispatch(std::string_view op, Device device, const Cpu& cpu) {
  if (device.kind == DeviceKind::kCuda) internal::FailNoKernel(op, device);
  if (device.kind == DeviceKind::kCpu) cpu();
}

// The device on which an op of these tensors (undefined ones do not count) runs and makes its
// output: the one on which all of them lie, or meta as soon as one is there, so that a model whose
// parameters have memory can be asked for shapes. BadInput where they lie on different ones.
template <class... Tensors>
Device CommonDevice(std::string_view op, const Tensors&... tensors) {
  return internal::CommonDevice(op, {&tensors...});
}

}  // namespace torus
