// A nearly orthogonal matrix of the singular vectors of another, by a Newton-Schulz iteration.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/tensor.h"

namespace torus::ops {

// Defaults are those of torch.optim.Muon.
struct NewtonSchulzOptions {
  std::array<double, 3> coefficients{3.4445, -4.7750, 2.0315};  // a, b and c
  int64_t steps = 5;                                            // of the iteration
  double eps = 1e-7;                                            // the least norm to divide by
};

// With a, b and c for the coefficients and X for the matrix divided by its Frobenius norm, does
// `steps` times X = a X + (b A + c A^2) X, where A = X X^T, on the shorter side of the matrix
// (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon). Singular values from 0.01 to 1
// come to lie within 0.6 and 1.3. As there and in PyTorch, every intermediate matrix is rounded to
// bf16; sums are f32. f32 or f64 matrix (m, n); the result has its shape and dtype. Records no
// graph. Throws BadInput unless there are two dimensions and steps lie in 1 to 99.
Tensor NewtonSchulz(const Tensor& matrix, const NewtonSchulzOptions& options = {});

}  // namespace torus::ops
