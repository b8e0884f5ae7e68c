// How far a result may be from the exact one by rounding alone. The only such rule of the tests.
#pragma once

#include <cmath>
#include <limits>

#include "runtime/dtype.h"

namespace torus::testing {

// The largest acceptable error of a value that is computed in `dtype`, with at most `terms` terms
// in any sum on its way and values up to size `magnitude` (the largest of the tensor, or of its
// partial sums if those are larger and cancel).
//
//   (8 + 4 sqrt(terms)) * u * magnitude,   u = eps / 2, the unit roundoff
//
// Rounding errors of a sum add like a random walk: with high probability at most
// lambda sqrt(terms) u times the partial sums (Higham and Mary, "A new approach to probabilistic
// rounding error analysis", SISC 2019, theorem 3.1); lambda = 4 leaves one failure in 10^3
// sums of worst case data, far fewer of ordinary data. The 8 covers the few single roundings of
// functions such as exp or a division (each at most 2 u in glibc) around the sum.
inline double Tolerance(DType dtype, int64_t terms, double magnitude) {
  const double eps = dtype == DType::kF64    ? std::numeric_limits<double>::epsilon()
                     : dtype == DType::kF32  ? std::numeric_limits<float>::epsilon()
                     : dtype == DType::kBF16 ? 0x1p-7
                                             : 0x1p-10;
  return (8 + 4 * std::sqrt(static_cast<double>(terms))) * eps / 2 * magnitude;
}

}  // namespace torus::testing
