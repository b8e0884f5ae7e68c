// Selects elements by a mask, as torch.where, masked_fill, tril and triu. Masks are bool and need
// no gradient; values have one dtype, any; all broadcast.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// input where the condition holds, else other.
Variable Where(const Variable& condition, const Variable& input, const Variable& other);

// The scalar or number `value` where the mask holds, else input.
Variable MaskedFill(const Variable& input, const Variable& mask, const Variable& value);
Variable MaskedFill(const Variable& input, const Variable& mask, double value);

// Zeros the elements above (tril) or below (triu) a diagonal of the last two dimensions: 0 is the
// main diagonal, positive ones are above it. Throws BadInput for fewer than two dimensions.
Variable Tril(const Variable& input, int64_t diagonal = 0);
Variable Triu(const Variable& input, int64_t diagonal = 0);

}  // namespace torus::ops
