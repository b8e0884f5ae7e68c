// The dtypes that the kernels of comparison and selection, and of integer arithmetic, know.
#pragma once

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

}  // namespace torus::ops
