// Where an element of a walk over strided operands lies: index arithmetic of 64 bits that kernels
// and CPU tests share.
#pragma once

#include <cstdint>

#include "runtime/broadcast.h"
#include "runtime/host_device.h"

namespace torus::cuda {

template <int N>
struct StridedPlaces {
  int64_t at[N];
};

// The walk of a BroadcastPlan, in a form that kernels are given by value.
template <int N>
struct StridedWalk {
  int rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t strides[N][kMaxRank] = {};

  // Of element i in row-major order: each operand's place, in elements. The first dimension needs
  // no division, and where i fits 32 bits the others need none of 64, which GPUs do slowly.
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
        // A size beyond 32 bits is larger than any i that has them.
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

// Of a plan with N operands.
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
