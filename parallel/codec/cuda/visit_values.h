// Dispatch over the dtypes that codecs accept. For kernel sources only.
#pragma once

#include "runtime/tensor.h"

namespace torus::parallel::cuda {

// Calls f(T()) for the type of the values: f32, bf16 or f16, which the caller has checked.
template <class F>
void VisitValues(const Tensor& values, const F& f) {
  if (values.dtype() == DType::kBF16)
    f(BFloat16());
  else if (values.dtype() == DType::kF16)
    f(Float16());
  else
    f(float());
}

}  // namespace torus::parallel::cuda
