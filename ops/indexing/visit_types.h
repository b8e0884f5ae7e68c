// The types for which kernels of indices are compiled.
#pragma once

#include <cstdint>
#include <string_view>

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

// For kernels that add: f32, f64 or i64. Throws BadInput tagged `op` for another dtype.
template <class F>
void VisitAdded(std::string_view op, DType dtype, const F& f) {
  if (dtype == DType::kI64) return f(ComputeType<int64_t>{});
  VisitCompute(op, dtype, f);
}

// The type in which values of this dtype add up, one of those.
inline DType AddedType(DType dtype) {
  if (!IsFloating(dtype)) return DType::kI64;
  return IsLow(dtype) ? DType::kF32 : dtype;
}

}  // namespace torus::ops
