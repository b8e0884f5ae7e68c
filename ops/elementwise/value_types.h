// The types for which the kernels of comparison, and those that move elements, are compiled.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/sum/running_type.h"
#include "runtime/dtype.h"

namespace torus::ops {

// Calls visit(ComputeType<T>) for f32, f64, i64 or bool; throws BadInput tagged `op` for another
// dtype. Integers of other widths are cast to i64 before (binary.h).
template <class Visit>
void VisitValues(std::string_view op, DType dtype, const Visit& visit) {
  if (dtype == DType::kBool) return visit(ComputeType<bool>{});
  VisitNumbers(op, dtype, visit);
}

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

}  // namespace torus::ops
