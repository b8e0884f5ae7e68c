// Kernels of softmax over contiguous rows. The public functions have checked the arguments. T is
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

// Computes largest[r], the largest value of each row, and log_sum[r] = log sum_i exp(x[r][i] -
// largest[r]). They stay separate so that a log probability, (x - largest) - log_sum, is accurate
// even for large logits.
template <class T>
void LogSumExp(int64_t rows, int64_t n, const T* x, T* largest, T* log_sum);

// y = scale[r] exp(x - largest[r] - log_sum[r]), zeros if scale[r] is 0. y may be x, except in the
// overload that rounds the result to bf16.
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
