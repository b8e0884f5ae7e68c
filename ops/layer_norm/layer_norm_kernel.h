// Kernels of layer norm over contiguous rows of n elements. They assume what the public call has
// checked. T is float or double.
#pragma once

#include <cstdint>

namespace torus::cpu {

// y = (x - mean) rstd weight + bias; writes mean and rstd = 1 / sqrt(var + eps) of each row. Runs
// on the team; a row belongs to one thread, so the split changes no bits.
template <class T>
void LayerNorm(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias, double eps,
               T* y, T* mean, T* rstd);

// With x^ = (x - mean) rstd and g = dy weight:
//   dx = rstd (g - mean(g) - x^ mean(g x^)),  dweight = sum_rows dy x^,  dbias = sum_rows dy
// Any of dx, dweight, dbias may be null. The sums over rows are cut into parts by `rows` alone.
template <class T>
void LayerNormBackward(int64_t rows, int64_t n, const T* dy, const T* x, const T* mean,
                       const T* rstd, const T* weight, T* dx, T* dweight, T* dbias);

// The same for some rows on the calling thread. The backward adds to dweight and dbias (both or
// neither null); float is vectorised.
void NormalizeRows(int64_t rows, int64_t n, const float* x, const float* weight, const float* bias,
                   double eps, float* y, float* mean, float* rstd);
void NormalizeRows(int64_t rows, int64_t n, const double* x, const double* weight,
                   const double* bias, double eps, double* y, double* mean, double* rstd);
void NormalizeRowsBackward(int64_t rows, int64_t n, const float* dy, const float* x,
                           const float* mean, const float* rstd, const float* weight, float* dx,
                           float* dweight, float* dbias);
void NormalizeRowsBackward(int64_t rows, int64_t n, const double* dy, const double* x,
                           const double* mean, const double* rstd, const double* weight, double* dx,
                           double* dweight, double* dbias);

}  // namespace torus::cpu
