// Extent: the minimum and maximum of many values, and whether all are finite. For kernel sources
// only.
#pragma once

#include <cstdint>

#include "parallel/codec/cuda/eight.h"
#include "parallel/codec/cuda/sort_key.h"
//
#include "runtime/cuda/block.h"

namespace torus::parallel::cuda {

inline constexpr int kPlainThreads = 256;

// In scratch memory.
struct Extent {
  uint32_t least, greatest;  // keys of sort_key.h
  uint32_t non_finite;       // 1: a value is infinite or NaN, and the other two are invalid
};

// Minimum and maximum are never -0. They are 0 if there are no values.
__device__ inline float LeastOf(const Extent& extent, int64_t count) {
  return count == 0 ? 0 : ValueOf(extent.least);
}
__device__ inline float GreatestOf(const Extent& extent, int64_t count) {
  return count == 0 ? 0 : ValueOf(extent.greatest);
}

struct Smaller {
  __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a < b ? a : b; }
};

static __global__ void BeginExtentKernel(Extent* extent) { *extent = {0xffffffffu, 0, 0}; }

template <class T>
__global__ void ExtentKernel(const T* values, int64_t count, bool aligned, Extent* extent) {
  uint32_t least = 0xffffffffu, greatest = 0;
  bool finite = true;
  const auto add = [&](T value) {
    const uint32_t bits = FloatBits(value), key = KeyOf(bits);
    finite = finite && IsFiniteBits(bits);
    if (key < least) least = key;
    if (key > greatest) greatest = key;
  };
  const int64_t first = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x;
  ForEachValue(values, count, aligned, first, int64_t{gridDim.x} * kPlainThreads, add);
  least = torus::cuda::CombineBlock<kPlainThreads>(least, Smaller());
  greatest = torus::cuda::CombineBlock<kPlainThreads>(greatest, torus::cuda::Larger());
  if (!finite) atomicMax(&extent->non_finite, 1u);
  if (threadIdx.x > 0) return;
  atomicMin(&extent->least, least);
  atomicMax(&extent->greatest, greatest);
}

}  // namespace torus::parallel::cuda
