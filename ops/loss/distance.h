// Distances and similarities of vectors, as torch.nn.functional.pairwise_distance and
// cosine_similarity; composed of other ops. f32 or f64.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// (sum_i |x_i|^p)^(1/p) over the last dimension: (..., n) to (...), or (..., 1) with keepdim. The
// largest |x_i| for an infinite p, how many are not 0 for a p of 0. The gradient at the zero vector
// is 0, and of equal largest elements each has an even share, as in PyTorch. Throws BadInput for a
// scalar, for a p that is negative or NaN, and for an infinite p over no elements.
Variable NormOfRows(const Variable& input, double p = 2, bool keepdim = false);

// The norm of x1 - x2 + eps over the last dimension; shapes broadcast.
Variable PairwiseDistance(const Variable& x1, const Variable& x2, double p = 2, double eps = 1e-6,
                          bool keepdim = false);

// x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) over `dim` of the shape to which both broadcast. As in
// PyTorch, gradients are those of norms that are not limited by eps.
Variable CosineSimilarity(const Variable& x1, const Variable& x2, int64_t dim = 1,
                          double eps = 1e-8);

}  // namespace torus::ops
