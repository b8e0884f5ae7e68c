// Sums of products by names of dimensions, as torch.einsum, tensordot and outer. Composed of
// diagonals, sums, permutations and matrix products; any floating dtype. Integers of one
// type are permuted, summed (to i64, as by Sum) and multiplied, but sums of their products are
// BadInput.
#pragma once

#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus::ops {

// "ij,jk->ik" is the matrix product: a letter for each dimension of each operand, equal letters
// along which the operands are multiplied, and, behind the arrow, the letters of the result; all
// others are summed. A letter twice in one operand takes its diagonal. "..." stands for any further
// dimensions, which broadcast as in matmul. Without an arrow the result has those, and then in
// alphabetical order (capitals first) the letters that occur once. Sizes of 1 broadcast. Operands
// are multiplied from the left. Throws BadInput for an equation that is not of this form or does
// not fit the operands.
Variable Einsum(std::string_view equation, const std::vector<Variable>& operands);

// Sums products over the last `dims` dimensions of a and the first of b, or over dims_a and dims_b
// in pairs. The result has the other dimensions of a, and then those of b.
Variable Tensordot(const Variable& a, const Variable& b, int64_t dims = 2);
Variable Tensordot(const Variable& a, const Variable& b, const Dims& dims_a, const Dims& dims_b);

// (n, m), all products of an element of a vector of n and one of a vector of m.
Variable Outer(const Variable& input, const Variable& vec2);

}  // namespace torus::ops
