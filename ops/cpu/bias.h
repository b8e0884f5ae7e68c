// Adds a bias vector to rows, and sums rows into one.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace torus::cpu {

// y[r][c] += bias[c] over contiguous rows, on the thread team.
template <class T>
void AddBias(const T* bias, int64_t rows, int64_t channels, T* y);

// sum[c] = sum over r of dy[r][c]. Blocks of 64 rows are summed in SumOf<T> and merged in double.
// Up to 16 threads the number of rows alone decides the parts, so the bits do not depend on the
// team size.
template <class T>
void SumRows(const T* dy, int64_t rows, int64_t channels, SumOf<T>* sum);

}  // namespace torus::cpu
