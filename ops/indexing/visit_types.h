// The types in which kernels of indices move and add values.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace torus::ops {

// For kernels that only move elements: calls f(T{}) with an unsigned type of the dtype's size.
template <class F>
void VisitBySize(DType dtype, const F& f) {
  switch (SizeOf(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

// The type in which values of this dtype add up: f32, f64 or i64.
inline DType AddedType(DType dtype) {
  if (!IsFloating(dtype)) return DType::kI64;
  return IsLow(dtype) ? DType::kF32 : dtype;
}

}  // namespace torus::ops
