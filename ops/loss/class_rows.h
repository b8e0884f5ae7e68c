// Relates class numbers to the rows and columns of a matrix of logits; for kernels.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/error.h"
#include "runtime/host_device.h"

namespace torus::ops {

struct ClassRows {
  const int64_t* target;  // of each row
  int64_t ignore_index, classes;
  int64_t first = 0;  // the class of the matrix's first column
  TORUS_HOST_DEVICE bool Counts(int64_t row) const { return target[row] != ignore_index; }
  TORUS_HOST_DEVICE bool IsRight(int64_t row) const {
    return !Counts(row) || (target[row] >= 0 && target[row] < classes);
  }
  // Whether the row's target counts and is a column of the matrix.
  TORUS_HOST_DEVICE bool IsHere(int64_t row) const {
    return Counts(row) && target[row] >= first && target[row] < first + classes;
  }
  // The offset of the row's target in the matrix.
  TORUS_HOST_DEVICE int64_t At(int64_t row) const { return row * classes + (target[row] - first); }
};

[[noreturn]] inline void FailTarget(std::string_view op, int64_t target, int64_t position,
                                    int64_t classes, int64_t ignore_index) {
  Throw<BadInput>(op, "target {} at position {} is neither one of {} classes nor ignored ({})",
                  target, position, classes, ignore_index);
}

}  // namespace torus::ops
