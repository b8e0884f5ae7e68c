// Tensors' elements in the memory of a GPU, for kernels to be handed: Tensor::data is for a CPU's.
#pragma once

#include "runtime/tensor.h"

namespace torus::cuda {

// InternalError where T is not the dtype.
template <class T>
const T* Elements(const Tensor& tensor) {
  TORUS_CHECK(tensor.dtype() == kDTypeOf<T>, "asked {} of {}", Name(kDTypeOf<T>), tensor);
  return static_cast<const T*>(tensor.raw());
}

template <class T>
T* MutableElements(Tensor& tensor) {
  TORUS_CHECK(tensor.dtype() == kDTypeOf<T>, "asked {} of {}", Name(kDTypeOf<T>), tensor);
  return static_cast<T*>(tensor.mutable_raw());
}

}  // namespace torus::cuda
