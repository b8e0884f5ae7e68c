// Joins and splits tensors, as torch.cat, stack, split, chunk and unbind.
#pragma once

#include <vector>

#include "autograd/variable.h"

namespace torus::ops {

// Joins copies along `dim`. All other sizes and the dtype must be equal, but, as in PyTorch, empty
// tensors of shape (0) fit everywhere. Throws BadInput for an empty list.
Variable Cat(const std::vector<Variable>& tensors, int64_t dim = 0);

// Joins tensors of one shape along a new dimension before `dim`, in [-rank - 1, rank].
Variable Stack(const std::vector<Variable>& tensors, int64_t dim = 0);

// Views of consecutive pieces, of split_size each (the last may be smaller) or of the given sizes,
// which must add up to the dimension.
std::vector<Variable> Split(const Variable& input, int64_t split_size, int64_t dim = 0);
std::vector<Variable> Split(const Variable& input, const std::vector<int64_t>& sizes,
                            int64_t dim = 0);

// Splits into at most `chunks` views of one size (the last may be smaller).
std::vector<Variable> Chunk(const Variable& input, int64_t chunks, int64_t dim = 0);

// A view for each index of a dimension, which is dropped; none if its size is 0.
std::vector<Variable> Unbind(const Variable& input, int64_t dim = 0);

}  // namespace torus::ops
