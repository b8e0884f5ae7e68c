// Descriptors, the only kind of object in cuDNN's backend API: created, given attributes,
// finalized, read. For sources built with CUDA only.
#pragma once

#include <cudnn.h>

#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/error.h"

namespace torus::cuda {

// Thrown if cuDNN does not support a request. The search for a plan catches it.
class NotSupported : public BrokenEnvironment {
 public:
  using BrokenEnvironment::BrokenEnvironment;
};

// Throws NotSupported, or BrokenEnvironment that names the call, unless `status` is success.
void CheckCudnn(cudnnStatus_t status, const char* call);

// cuDNN's tag for values of type T.
template <class T>
constexpr cudnnBackendAttributeType_t AttributeType() {
  if constexpr (std::is_same_v<T, int64_t>) return CUDNN_TYPE_INT64;
  if constexpr (std::is_same_v<T, int32_t>) return CUDNN_TYPE_INT32;
  if constexpr (std::is_same_v<T, float>) return CUDNN_TYPE_FLOAT;
  if constexpr (std::is_same_v<T, bool>) return CUDNN_TYPE_BOOLEAN;
  if constexpr (std::is_same_v<T, char>) return CUDNN_TYPE_CHAR;
  if constexpr (std::is_same_v<T, cudnnDataType_t>) return CUDNN_TYPE_DATA_TYPE;
  if constexpr (std::is_same_v<T, cudnnConvolutionMode_t>) return CUDNN_TYPE_CONVOLUTION_MODE;
  if constexpr (std::is_same_v<T, cudnnPointwiseMode_t>) return CUDNN_TYPE_POINTWISE_MODE;
  if constexpr (std::is_same_v<T, cudnnReduceTensorOp_t>) return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
  if constexpr (std::is_same_v<T, cudnnBackendHeurMode_t>) return CUDNN_TYPE_HEUR_MODE;
  if constexpr (std::is_same_v<T, cudnnBackendNumericalNote_t>) return CUDNN_TYPE_NUMERICAL_NOTE;
  if constexpr (std::is_same_v<T, cudnnBackendBehaviorNote_t>) return CUDNN_TYPE_BEHAVIOR_NOTE;
  if constexpr (std::is_same_v<T, cudnnBackendKnobType_t>) return CUDNN_TYPE_KNOB_TYPE;
}

// Owns a cuDNN descriptor. Attributes that are descriptors must be finalized and outlive it.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    CheckCudnn(cudnnBackendCreateDescriptor(type, &handle_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Descriptor() {
    if (handle_ != nullptr) cudnnBackendDestroyDescriptor(handle_);
  }

  cudnnBackendDescriptor_t get() const { return handle_; }

  template <class T>
  void Set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    SetAs(name, AttributeType<T>(), values.size(), values.data());
  }
  template <class T>
  void Set(cudnnBackendAttributeName_t name, const T& value) {
    SetAs(name, AttributeType<T>(), 1, &value);
  }
  void Set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    SetAs(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.handle_);
  }
  void SetDescriptors(cudnnBackendAttributeName_t name,
                      std::span<const cudnnBackendDescriptor_t> values) {
    SetAs(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, values.size(), values.data());
  }
  void SetPointers(cudnnBackendAttributeName_t name, std::span<const void* const> values) {
    SetAs(name, CUDNN_TYPE_VOID_PTR, values.size(), values.data());
  }
  void Finalize() { CheckCudnn(cudnnBackendFinalize(handle_), "cudnnBackendFinalize"); }

  // Reads up to values.size() values; returns how many there are.
  template <class T, size_t room>
  int64_t Get(cudnnBackendAttributeName_t name, std::array<T, room>& values) const {
    return GetAs(name, AttributeType<T>(), values.size(), values.data());
  }
  int64_t GetDescriptors(cudnnBackendAttributeName_t name,
                         std::span<cudnnBackendDescriptor_t> values) const {
    return GetAs(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, values.size(), values.data());
  }

 private:
  void SetAs(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t count,
             const void* values) {
    CheckCudnn(cudnnBackendSetAttribute(handle_, name, type, static_cast<int64_t>(count), values),
               "cudnnBackendSetAttribute");
  }
  int64_t GetAs(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t room,
                void* values) const {
    int64_t count = 0;
    CheckCudnn(cudnnBackendGetAttribute(handle_, name, type, static_cast<int64_t>(room), &count,
                                        room == 0 ? nullptr : values),
               "cudnnBackendGetAttribute");
    return count;
  }

  cudnnBackendDescriptor_t handle_ = nullptr;
};

}  // namespace torus::cuda
