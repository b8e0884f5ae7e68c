// 64-bit index arithmetic for elements of strided operands, shared by kernels and CPU tests.
#pragma once

#include <cstdint>

#include "runtime/broadcast.h"
#include "runtime/host_device.h"

namespace torus::cuda {

template <int N>
struct StridedPlaces {
  int64_t at[N];
};

// A BroadcastPlan in a form that can be passed to kernels by value.
template <int N>
struct StridedWalk {
  int rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t strides[N][kMaxRank] = {};

  // The offset of element i, in row-major order, in each operand, in elements. The first dimension
  // needs no division. If i fits in 32 bits, the others need no 64-bit division, which GPUs do
  // slowly.
  TORUS_HOST_DEVICE StridedPlaces<N> operator()(int64_t i) const {
    return i <= int64_t{0xffffffff} ? Places<uint32_t>(i) : Places<uint64_t>(i);
  }

 private:
  template <class Unsigned>
  TORUS_HOST_DEVICE StridedPlaces<N> Places(int64_t i) const {
    StridedPlaces<N> places{};
    Unsigned rest = static_cast<Unsigned>(i);
    for (int d = rank - 1; d >= 0; --d) {
      int64_t index = static_cast<int64_t>(rest);
      if (d > 0) {
        // A size that needs more than 32 bits is larger than any i that fits in 32 bits.
        const Unsigned size = static_cast<Unsigned>(sizes[d]);
        if (sizes[d] > static_cast<int64_t>(rest)) {
          rest = 0;
        } else {
          index = static_cast<int64_t>(rest % size);
          rest /= size;
        }
      }
      for (int k = 0; k < N; ++k) places.at[k] += index * strides[k][d];
    }
    return places;
  }
};

// The walk of a plan with N operands.
template <int N>
StridedWalk<N> WalkOf(const BroadcastPlan& plan) {
  StridedWalk<N> walk;
  walk.rank = plan.shape.rank();
  for (int d = 0; d < walk.rank; ++d) {
    walk.sizes[d] = plan.shape[d];
    for (int k = 0; k < N; ++k) walk.strides[k][d] = plan.strides[k][d];
  }
  return walk;
}

}  // namespace torus::cuda
