#include "runtime/pinned.h"

#include "runtime/allocator.h"
#include "runtime/cuda_api.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"

namespace torus {
namespace {

bool CanPin() {
  return OnDevice(
      {kHasCuda ? DeviceKind::kCuda : DeviceKind::kCpu}, [] { return false; },
      [] { return cuda::CanPin(); });
}

}  // namespace

Tensor EmptyPinned(const Shape& shape, DType dtype) {
  if (GpuCount() == 0 || !CanPin()) return Empty(shape, dtype);
  const size_t bytes = static_cast<size_t>(Numel(shape)) * SizeOf(dtype);
  void* const block = PinnedAllocator().Allocate(bytes);
  const std::shared_ptr<const void> owner(
      block, [block, bytes](const void*) { PinnedAllocator().Free(block, bytes); });
  return {std::make_shared<Storage>(block, bytes, Device{}, owner), shape, ContiguousStrides(shape),
          0, dtype};
}

}  // namespace torus
