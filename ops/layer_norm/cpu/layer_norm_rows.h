// Layer norm of contiguous rows of n elements, on the calling thread, or, where mean is null, RMS
// norm: the mean of a row and mean(g) are then taken for 0. float is vectorised.
#pragma once

#include <cstdint>

namespace torus::cpu {

// y = (x - mean) rstd weight + bias; writes mean and rstd = 1 / sqrt(var + eps) of each row.
void NormalizeRows(int64_t rows, int64_t n, const float* x, const float* weight, const float* bias,
                   double eps, float* y, float* mean, float* rstd);
void NormalizeRows(int64_t rows, int64_t n, const double* x, const double* weight,
                   const double* bias, double eps, double* y, double* mean, double* rstd);

// With x^ = (x - mean) rstd and g = dy weight:
//   dx = rstd (g - mean(g) - x^ mean(g x^)),  dweight += sum_rows dy x^,  dbias += sum_rows dy
// dx may be null, and so may dweight and dbias together.
void NormalizeRowsBackward(int64_t rows, int64_t n, const float* dy, const float* x,
                           const float* mean, const float* rstd, const float* weight, float* dx,
                           float* dweight, float* dbias);
void NormalizeRowsBackward(int64_t rows, int64_t n, const double* dy, const double* x,
                           const double* mean, const double* rstd, const double* weight, double* dx,
                           double* dweight, double* dbias);

}  // namespace torus::cpu
