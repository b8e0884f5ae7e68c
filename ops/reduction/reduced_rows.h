// The elements of each result of a reduction, one after another.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// (outer, count), contiguous: row o has what is reduced into element o of ReducedShape. `reduced`
// is from ReducedDims.
Tensor ReducedRows(const Tensor& input, const Dims& reduced);

}  // namespace torus::ops
