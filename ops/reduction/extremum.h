// The largest and the smallest element over dimensions, as torch.amax, amin, max, min, argmax and
// argmin. Any dtype but, for indices, bool; NaN counts as more extreme than any number. Dimensions
// as in reduction.h. Throws BadInput for an extremum over no elements.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// Equal extreme elements share the gradient evenly; if the extremum is NaN, all gradients are NaN.
Variable Amax(const Variable& input, const Dims& dims = {}, bool keepdim = false);
Variable Amin(const Variable& input, const Dims& dims = {}, bool keepdim = false);

// Of all elements. The same gradient, but NaN elements share it if the extremum is NaN.
Variable Max(const Variable& input);
Variable Min(const Variable& input);

// Along `dim`, with the i64 indices of the first of equal elements, which get all of the gradient.
struct ValuesAndIndices {
  Variable values, indices;  // of the shape of the reduced input
};
// Throw BadInput for a `dim` outside of the rank.
ValuesAndIndices Max(const Variable& input, int64_t dim, bool keepdim = false);
ValuesAndIndices Min(const Variable& input, int64_t dim, bool keepdim = false);

// The i64 index along `dim`, or in the flattened input if no `dim` is given; the first of equal
// elements.
Tensor Argmax(const Tensor& input, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor Argmin(const Tensor& input, std::optional<int64_t> dim = {}, bool keepdim = false);

}  // namespace torus::ops
