// Tensors' elements in the memory of a GPU, for kernels to be handed: Tensor::data is for a CPU's.
#pragma once

#include "runtime/tensor.h"

namespace torus::cuda {

// InternalError unless the tensor is on a GPU and T is its dtype: a kernel that is handed memory of
// the CPU's would read it on an emulated GPU, and end the program on a real one.
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

}  // namespace torus::cuda
