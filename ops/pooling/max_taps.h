// The pixels that a window of max pooling reads, for CPU and GPU kernels.
#pragma once

#include "ops/pooling/pooling_shape.h"
#include "runtime/host_device.h"

namespace torus::ops {

// Input pixels of one output along one axis of `in` pixels: first, first + step, ... below end.
// There may be none: a dilation can step over the whole input, from padding to padding.
struct MaxTaps {
  TORUS_HOST_DEVICE MaxTaps(const PoolAxis& axis, int64_t out, int64_t in) {
    const int64_t start = out * axis.stride - axis.padding;
    const int64_t skipped = start < 0 ? (-start + axis.dilation - 1) / axis.dilation : 0;
    first = start + skipped * axis.dilation;
    end = start + (axis.kernel - 1) * axis.dilation + 1;
    if (end > in) end = in;
    step = axis.dilation;
  }
  TORUS_HOST_DEVICE bool empty() const { return first >= end; }
  int64_t first, end, step;
};

}  // namespace torus::ops
