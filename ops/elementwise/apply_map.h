// A point-wise function of one Tensor, for gradient rules: records no graph, allocates one tensor.
#pragma once

#include <string_view>

#include "ops/elementwise/kernels.h"

namespace torus::ops {

// f.Forward of every element, for a functor of math_functors.h or activation_functors.h; x has any
// strides, the result is contiguous. Dtypes and errors as for kernels::MapForward.
template <class F>
Tensor ApplyMap(std::string_view op, const F& f, const Tensor& x) {
  Tensor out(x.shape(), x.dtype(), x.device());
  kernels::MapForward(op, f, x.Contiguous(), out);
  return out;
}

}  // namespace torus::ops
