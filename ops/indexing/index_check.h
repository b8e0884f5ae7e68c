// What all ops of this room ask of an index.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::ops {

// `index` as contiguous i64. BadInput tagged `op` for one that is no whole number type (i64, i32)
// or lies outside of [0, bound), naming the value and its position; on a GPU maybe later, and then
// with another index in the place of a wrong one (runtime/later_checks.h).
Tensor CheckedIndex(std::string_view op, const Tensor& index, int64_t bound);

}  // namespace torus::ops
