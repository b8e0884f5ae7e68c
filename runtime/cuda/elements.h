// Pointers to tensor elements in GPU memory, to pass to kernels. (Tensor::data is for CPU memory.)
#pragma once

#include "runtime/tensor.h"

namespace torus::cuda {

// Throws InternalError unless the tensor is on a GPU and T is its dtype. A kernel that got CPU
// memory would read it on an emulated GPU, and crash the program on a real one.
template <class T>
void CheckElements(const Tensor& tensor) {
  TORUS_CHECK(tensor.dtype() == kDTypeOf<T> && tensor.device().kind == DeviceKind::kCuda,
              "asked {} on a GPU of {}", Name(kDTypeOf<T>), tensor);
}

template <class T>
const T* Elements(const Tensor& tensor) {
  CheckElements<T>(tensor);
  return static_cast<const T*>(tensor.raw());
}

template <class T>
T* MutableElements(Tensor& tensor) {
  CheckElements<T>(tensor);
  return static_cast<T*>(tensor.mutable_raw());
}

// Null for an undefined tensor.
template <class T>
const T* ElementsOrNull(const Tensor& tensor) {
  return tensor.defined() ? Elements<T>(tensor) : nullptr;
}

template <class T>
T* MutableElementsOrNull(Tensor& tensor) {
  return tensor.defined() ? MutableElements<T>(tensor) : nullptr;
}

// Elements of any dtype of T's size.
template <class T>
const T* ElementsBySize(const Tensor& tensor) {
  TORUS_CHECK(SizeOf(tensor.dtype()) == sizeof(T) && tensor.device().kind == DeviceKind::kCuda,
              "asked {} bytes on a GPU of {}", sizeof(T), tensor);
  return static_cast<const T*>(tensor.raw());
}

template <class T>
T* MutableElementsBySize(Tensor& tensor) {
  ElementsBySize<T>(tensor);
  return static_cast<T*>(tensor.mutable_raw());
}

}  // namespace torus::cuda
