// Kernels of softmax over contiguous rows. They assume what the public calls have checked. T is
// float or double.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

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

// The largest value of each row, and log_sum[r] = log sum_i exp(x[r][i] - largest[r]): apart, so
// that a logarithm of a probability, (x - largest) - log_sum, keeps its digits where logits are
// large.
template <class T>
void LogSumExp(int64_t rows, int64_t n, const T* x, T* largest, T* log_sum);

// y = scale[r] exp(x - largest[r] - log_sum[r]), which may be written over x; zeros where scale[r]
// is 0. The float one may round it to bf16 as well, into memory of its own.
template <class T>
void ScaledSoftmax(int64_t rows, int64_t n, const T* x, const T* largest, const T* log_sum,
                   const T* scale, T* y);
void ScaledSoftmax(int64_t rows, int64_t n, const float* x, const float* largest,
                   const float* log_sum, const float* scale, BFloat16* y);

// float is vectorised.
template <>
void LogSumExp(int64_t rows, int64_t n, const float* x, float* largest, float* log_sum);
template <>
void ScaledSoftmax(int64_t rows, int64_t n, const float* x, const float* largest,
                   const float* log_sum, const float* scale, float* y);
template <>
void Softmax(int64_t rows, int64_t n, const float* x, float* y);
template <>
void SoftmaxBackward(int64_t rows, int64_t n, const float* y, const float* dy, float* dx);
template <>
void LogSoftmax(int64_t rows, int64_t n, const float* x, float* y);
template <>
void LogSoftmaxBackward(int64_t rows, int64_t n, const float* y, const float* dy, float* dx);

}  // namespace torus::cpu
