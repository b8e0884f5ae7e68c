// Converts floating elements of any type to the type they are computed in, and back. For kernel
// sources only.
#pragma once

#include <string_view>

#include "runtime/dtype.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/kernel.h"

namespace torus::cuda {

// 16 bits are computed in f32 and rounded once.
template <class T>
__device__ SumOf<T> Widened(T value) {
  return ElementCast<SumOf<T>, T>()(value);
}
template <class T>
__device__ T RoundedTo(SumOf<T> value) {
  return ElementCast<T, SumOf<T>>()(value);
}

// Calls visit(ComputeType<T>) for f32, f64, bf16 or f16; throws BadInput tagged `op` for another
// dtype.
template <class Visit>
void VisitFloats(std::string_view op, DType dtype, const Visit& visit) {
  if (dtype == DType::kBF16) return visit(ComputeType<BFloat16>{});
  if (dtype == DType::kF16) return visit(ComputeType<Float16>{});
  VisitCompute(op, dtype, visit);
}

}  // namespace torus::cuda
