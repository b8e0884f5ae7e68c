// What the class losses ask of their targets.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::ops {

// The class of each row, contiguous i64; rows of `ignore_index` count for nothing. Logits may be
// those of some classes alone, from number `first` on: the others are on other ranks.
struct ClassTargets {
  Tensor numbers;
  int64_t ignore_index = -100;
  int64_t first = 0;
};

// `target` as class numbers. BadInput tagged `op` unless it is of an integer dtype, has the shape
// that `input` has without its classes, and every value is a class or `ignore_index`; a wrong one
// is named with its position, on a GPU maybe later (runtime/later_checks.h).
ClassTargets CheckedTargets(std::string_view op, const Shape& input, const Tensor& target,
                            int64_t ignore_index);

// The targets, of any shape, that are not ignored: their places in row-major order and their
// numbers, both i64 (count). The count depends on values, which meta has not: there all count.
struct CountedTargets {
  Tensor places, numbers;
};
CountedTargets FindCounted(const ClassTargets& targets);

}  // namespace torus::ops
