#include "runtime/dlpack.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/factories.h"
#include "runtime/stream.h"

namespace torus {
namespace {

struct TypePair {
  DType ours;
  DLDataType theirs;
};

constexpr std::array<TypePair, 8> kTypes{{{DType::kF64, {kDLFloat, 64, 1}},
                                          {DType::kF32, {kDLFloat, 32, 1}},
                                          {DType::kBF16, {kDLBfloat, 16, 1}},
                                          {DType::kF16, {kDLFloat, 16, 1}},
                                          {DType::kI64, {kDLInt, 64, 1}},
                                          {DType::kI32, {kDLInt, 32, 1}},
                                          {DType::kU8, {kDLUInt, 8, 1}},
                                          {DType::kBool, {kDLBool, 8, 1}}}};

DLDataType TypeOf(DType dtype) { return std::ranges::find(kTypes, dtype, &TypePair::ours)->theirs; }

DType TypeOf(const DLDataType& dtype) {
  const auto same = [&](const DLDataType& other) {
    return other.code == dtype.code && other.bits == dtype.bits && other.lanes == dtype.lanes;
  };
  const auto* const found = std::ranges::find_if(kTypes, same, &TypePair::theirs);
  Require(found != kTypes.end(), "dlpack", "no tensor has type code {} of {} bits and {} lanes",
          int{dtype.code}, int{dtype.bits}, dtype.lanes);
  return found->ours;
}

DLDevice DeviceOf(Device device) {
  return {device.kind == DeviceKind::kCuda ? kDLCUDA : kDLCPU, device.index};
}

Device DeviceOf(const DLDevice& device) {
  Require(device.device_type == kDLCPU || device.device_type == kDLCUDA, "dlpack",
          "needs memory of a CPU (1) or of CUDA (2), got device type {}", device.device_type);
  if (device.device_type == kDLCPU) return {};
  return {DeviceKind::kCuda, device.device_id};
}

// What a consumer gets, and what it points to.
template <class Managed>
struct Exported {
  Managed managed{};
  Tensor tensor;
};

template <class Managed>
Managed* Export(const Tensor& tensor) {
  Require(tensor.defined() && tensor.device() != kMetaDevice, "dlpack",
          "needs a tensor with memory, got {}", tensor);
  auto exported = std::make_unique<Exported<Managed>>();
  exported->tensor = tensor;
  Tensor& kept = exported->tensor;
  DLTensor& out = exported->managed.dl_tensor;
  // The offset is in the address: not all consumers read byte_offset.
  out.data = tensor.numel() == 0 ? nullptr : const_cast<void*>(tensor.raw());
  out.device = DeviceOf(tensor.device());
  out.ndim = tensor.rank();
  out.dtype = TypeOf(tensor.dtype());
  out.shape = const_cast<int64_t*>(kept.shape().begin());
  out.strides = const_cast<int64_t*>(kept.strides().begin());
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed* self) {
    delete static_cast<Exported<Managed>*>(self->manager_ctx);
  };
  return &exported.release()->managed;
}

template <class Managed>
void Release(Managed* managed) {
  if (managed->deleter != nullptr) managed->deleter(managed);
}

Dims DimsOf(const int64_t* values, int count) {
  return Dims(std::span(values, static_cast<size_t>(count)));
}

Tensor Import(const DLTensor& in, std::function<void(void*)> deleter) {
  Require(in.ndim >= 0 && in.ndim <= kMaxRank, "dlpack", "needs 0 to {} dimensions, got {}",
          kMaxRank, in.ndim);
  BlobOptions options{.strides = {}, .deleter = std::move(deleter), .device = DeviceOf(in.device)};
  if (in.strides != nullptr && in.ndim > 0) options.strides = DimsOf(in.strides, in.ndim);
  const Shape shape = in.ndim > 0 ? DimsOf(in.shape, in.ndim) : Shape{};
  void* const data = in.data == nullptr ? nullptr : static_cast<char*>(in.data) + in.byte_offset;
  return FromBlob(data, shape, TypeOf(in.dtype), options);
}

template <class Managed>
Tensor Import(Managed* managed) {
  return Import(managed->dl_tensor, [managed](void*) { Release(managed); });
}

}  // namespace

DLManagedTensor* ToDLPack(const Tensor& tensor) { return Export<DLManagedTensor>(tensor); }

DLManagedTensorVersioned* ToDLPackVersioned(const Tensor& tensor) {
  DLManagedTensorVersioned* const managed = Export<DLManagedTensorVersioned>(tensor);
  managed->version = {1, 0};
  return managed;
}

Tensor FromDLPack(DLManagedTensor* managed) {
  Require(managed != nullptr, "dlpack", "needs a tensor, got a null pointer");
  return Import(managed);
}

Tensor FromDLPack(DLManagedTensorVersioned* managed) {
  Require(managed != nullptr, "dlpack", "needs a tensor, got a null pointer");
  Require(managed->version.major == 1, "dlpack", "needs version 1, got {}.{}",
          managed->version.major, managed->version.minor);
  if ((managed->flags & kDLPackReadOnly) == 0) return Import(managed);
  Tensor copy = Import(managed->dl_tensor, {}).Clone();
  WaitForWork(copy.device());  // a GPU still reads the producer's memory
  Release(managed);            // last, since nothing may throw after it
  return copy;
}

}  // namespace torus
