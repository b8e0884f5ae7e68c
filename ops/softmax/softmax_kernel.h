// Kernels of softmax over contiguous rows. They assume what the public calls have checked. T is
// float or double.
#pragma once

#include <cstdint>

namespace torus::cpu {

template <class T>
void Softmax(int64_t rows, int64_t n, const T* x, T* y);

// dx = y (dy - sum(dy y))
template <class T>
void SoftmaxBackward(int64_t rows, int64_t n, const T* y, const T* dy, T* dx);

template <class T>
void LogSoftmax(int64_t rows, int64_t n, const T* x, T* y);

// dx = dy - exp(y) sum(dy)
template <class T>
void LogSoftmaxBackward(int64_t rows, int64_t n, const T* y, const T* dy, T* dx);

}  // namespace torus::cpu
