// torch.repeat_interleave with a number of repetitions for each element. The call waits for the
// numbers: on a GPU for its stream. On meta there are none, so it throws BadInput there.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// Slice i along `dim`, or element i of the flattened tensor without one, repeats[i] times in a row.
// `repeats` are i64 or i32, not negative, as many as there are slices, or one for all. Any dtype.
Variable RepeatInterleave(const Variable& input, const Tensor& repeats,
                          std::optional<int64_t> dim = {});

}  // namespace torus::ops
