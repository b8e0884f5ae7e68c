// How far a value may be from its reference. This is the only such rule of replay.
//
// Both sides round. With eps the spacing of the dtype at 1, and a value that is a sum of n terms:
//
//   |got - want| <= eps (8 |want| + 4 sqrt(n) scale) + noise
//
// 8 |want|: the functions around the sum (a division, exp) are accurate to an ulp or two on each
// side; 8 leaves room for a chain of four.
//
// 4 sqrt(n) scale: the error of a sum of n terms is at most lambda sqrt(n) eps/2 times its partial
// sums, in any order of summation, with probability 1 - 2 exp(-lambda^2 / 2) (Higham & Mary 2019,
// "A new approach to probabilistic rounding error analysis", SISC 41, theorem 3.1). lambda is 4,
// and there are two sides. `scale` is the size of the partial sums: the tensor's largest value, or
// sqrt(n) t for n terms of random sign and size t.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace torus::replay {

// How a value is computed, as far as its rounding errors depend on it.
struct Origin {
  int64_t terms = 1;  // n: how many terms it is a sum of
  // Size of such a value: the largest |want| of its tensor, or larger if the terms are known to
  // cancel.
  double scale = 0;
  double noise = 0;  // further effect of rounding, as measured (rounding_noise.h)
};

// The largest |got - want| allowed.
double Tolerance(DType dtype, double want, const Origin& origin);

// The floor of a gradient's tolerance: 8 eps times the largest gradient of the model (or op). A
// gradient that is zero in exact arithmetic (of a bias before batch norm, or of a softmax's input
// under a constant output gradient) consists of the rounding errors of larger values that cancel.
double GradientFloor(DType dtype, double largest_gradient);

}  // namespace torus::replay
