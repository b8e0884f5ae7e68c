// How far a result may be from the exact one by rounding alone. The only such rule of the tests.
#pragma once

#include <cmath>

#include "runtime/dtype.h"

namespace torus::testing {

// The largest relative error of one rounding to nearest: half the distance from 1 to the next
// number.
inline double UnitRoundoff(DType dtype) {
  return dtype == DType::kF64    ? 0x1p-53
         : dtype == DType::kF32  ? 0x1p-24
         : dtype == DType::kBF16 ? 0x1p-8
                                 : 0x1p-11;
}

// The largest acceptable error of a value that is computed in `dtype`, with at most `terms` terms
// in any sum on its way and values up to size `magnitude` (the largest of the tensor, or of its
// partial sums if those are larger and cancel).
//
//   (8 + 4 sqrt(terms)) * u * magnitude,   u = UnitRoundoff
//
// Rounding errors of a sum add like a random walk: with high probability at most
// lambda sqrt(terms) u times the partial sums (Higham and Mary, "A new approach to probabilistic
// rounding error analysis", SISC 2019, theorem 3.1); lambda = 4 leaves one failure in 10^3
// sums of worst case data, far fewer of ordinary data. The 8 covers the few single roundings of
// functions such as exp or a division (each at most 2 u in glibc) around the sum.
inline double Tolerance(DType dtype, int64_t terms, double magnitude) {
  return (8 + 4 * std::sqrt(static_cast<double>(terms))) * UnitRoundoff(dtype) * magnitude;
}

// The same where 16 bits are computed in f32 and rounded once, at the end; `value` is the exact
// result. Magnitudes from 2^-4 on cover that f16 has fewer bits below 2^-14.
inline double ToleranceRoundedOnce(DType dtype, int64_t terms, double magnitude, double value) {
  if (!IsLow(dtype)) return Tolerance(dtype, terms, magnitude);
  return Tolerance(DType::kF32, terms, magnitude) + UnitRoundoff(dtype) * std::abs(value);
}

}  // namespace torus::testing
