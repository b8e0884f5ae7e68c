// The check of an index, shared by the ops of this family.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::ops {

// Returns `index` as contiguous i64. Throws BadInput tagged `op` for a dtype other than i64 and
// i32, and for a value outside of [0, bound), naming it and its position. On a GPU the error may be
// thrown later, and a valid index then replaces the wrong one (runtime/deferred_checks.h).
Tensor CheckedIndex(std::string_view op, const Tensor& index, int64_t bound);

}  // namespace torus::ops
