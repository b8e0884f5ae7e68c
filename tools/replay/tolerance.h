// The one place that says how far a value may lie from its reference.
//
// Both sides round. With eps the spacing of the dtype at 1, and n terms in the sum that a value is:
//
//   |got - want| <= eps (8 |want| + 4 sqrt(n) scale) + noise
//
// 8 |want|: the functions around the sum (a division, exp) are right to an ulp or two on each side;
// 8 leaves room for a chain of four.
//
// 4 sqrt(n) scale: a sum of n terms errs by at most lambda sqrt(n) eps/2 times its partial sums, in
// whatever order it is added up, with probability 1 - 2 exp(-lambda^2 / 2) (Higham & Mary 2019, "A
// new approach to probabilistic rounding error analysis", SISC 41, theorem 3.1); lambda is 4, and
// there are two sides. `scale` is the size of the partial sums: that of the tensor's largest value,
// or sqrt(n) t for n terms of random sign and size t.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace torus::replay {

// Where a value comes from.
struct Origin {
  int64_t terms = 1;  // n: how many terms meet in it
  // Size of such a value: largest |want| of its tensor, or larger where the terms are known to
  // cancel.
  double scale = 0;
  double noise = 0;  // what more was measured that rounding may do to it
};

// The largest |got - want| allowed.
double Tolerance(DType dtype, double want, const Origin& origin);

// The floor of a gradient's tolerance: 8 eps times the largest gradient of the model (or op).
// Gradients that are zero in exact arithmetic (a bias before batch norm, the input of a softmax
// under a constant seed) are the rounding noise of larger ones that cancel.
double GradientFloor(DType dtype, double largest_gradient);

}  // namespace torus::replay
