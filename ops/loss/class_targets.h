// The checked targets of the class losses.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::ops {

// The class of each row, contiguous i64; rows with `ignore_index` are ignored. Logits may cover
// only some classes, from number `first` on; other ranks have the others.
struct ClassTargets {
  Tensor numbers;
  int64_t ignore_index = -100;
  int64_t first = 0;
};

// Returns `target` as class numbers. Throws BadInput tagged `op` unless it has an integer dtype and
// the shape of `input` without the class dimension, and each value is a class or `ignore_index`.
// The error names a wrong value and its position; on a GPU it may be thrown later
// (runtime/deferred_checks.h).
ClassTargets CheckedTargets(std::string_view op, const Shape& input, const Tensor& target,
                            int64_t ignore_index);

// The targets, of any shape, that are not ignored: their row-major positions and their class
// numbers, both i64 (count). On the meta device, which has no values, all targets count.
struct CountedTargets {
  Tensor places, numbers;
};
CountedTargets FindCounted(const ClassTargets& targets);

}  // namespace torus::ops
