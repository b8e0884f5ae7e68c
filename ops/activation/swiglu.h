// SwiGLU (Shazeer 2020, "GLU variants improve transformer", arXiv:2002.05202, equation 6 without
// its linear layers).
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// silu(gate) * up. Both are of one floating dtype, of which 16 bits are computed in f32, and of one
// shape, with any strides; the result is contiguous. Keeps both inputs for the backward, and
// nothing between. Throws BadInput for shapes or dtypes that differ.
Variable Swiglu(const Variable& gate, const Variable& up);

}  // namespace torus::ops
