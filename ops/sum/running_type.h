// The types in which reductions combine elements, and the dtypes that they take.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "runtime/dtype.h"

namespace torus::ops {

// f64 for floating elements; unsigned for i64, so that it wraps around.
template <class T>
using RunningType = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

// Calls visit(ComputeType<T>) for f32, f64 or i64; throws BadInput tagged `op` for another dtype.
template <class Visit>
void VisitNumbers(std::string_view op, DType dtype, const Visit& visit) {
  if (dtype == DType::kI64) return visit(ComputeType<int64_t>{});
  VisitCompute(op, dtype, visit);
}

}  // namespace torus::ops
