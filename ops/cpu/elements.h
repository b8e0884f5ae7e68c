// The elements of tensors that a kernel's argument may leave undefined.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

template <class T>
const T* ElementsOrNull(const Tensor& tensor) {
  return tensor.defined() ? tensor.data<T>() : nullptr;
}

template <class T>
T* MutableElementsOrNull(Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data<T>() : nullptr;
}

}  // namespace torus::cpu
