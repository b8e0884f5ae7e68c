// Repeats elements, as torch.Tensor.repeat, torch.tile and torch.repeat_interleave. Any dtype. A
// gradient is the sum over the repetitions, in their order.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// The tensor repeats[d] times along dimension d; new leading dimensions where there are more
// repeats than dimensions. Throws BadInput for fewer repeats than dimensions and for negative ones.
Variable Repeat(const Variable& input, const Dims& repeats);

// The same, where missing leading repeats count as 1.
Variable Tile(const Variable& input, const Dims& dims);

// Each element along `dim`, or of the flattened tensor without one, `repeats` times in a row.
Variable RepeatInterleave(const Variable& input, int64_t repeats, std::optional<int64_t> dim = {});

}  // namespace torus::ops
