// The kernels of bags of indices on one element, shared by all devices.
#pragma once

#include <cstdint>

#include "runtime/host_device.h"

namespace torus::ops {

// The last of `count` ascending starts that is not above i; the first start is 0.
TORUS_HOST_DEVICE inline int64_t BagOf(const int64_t* starts, int64_t count, int64_t i) {
  int64_t low = 0, high = count;  // starts[low] <= i < starts[high]
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (starts[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return low;
}

struct FindBag {
  const int64_t* starts;
  int64_t count;
  int64_t* bags;
  TORUS_HOST_DEVICE void operator()(int64_t i) const { bags[i] = BagOf(starts, count, i); }
};

// Element e of the result: bag e / width, column e % width.
template <class T>
struct LargestInBag {
  const T* x;
  const int64_t* starts;
  const bool* skip;  // may be null
  int64_t rows, bags, width;
  T* y;
  int64_t* at;
  TORUS_HOST_DEVICE void operator()(int64_t e) const {
    const int64_t bag = e / width, column = e % width;
    const int64_t end = bag + 1 < bags ? starts[bag + 1] : rows;
    int64_t best = rows;
    for (int64_t i = starts[bag]; i < end; ++i) {
      if (skip != nullptr && skip[i]) continue;
      if (best == rows || x[i * width + column] > x[best * width + column]) best = i;
    }
    at[e] = best;
    y[e] = best == rows ? T(0) : x[best * width + column];
  }
};

}  // namespace torus::ops
