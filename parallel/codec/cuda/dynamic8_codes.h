// dynamic8 kernels: encode blocks of values to bytes and decode them. For kernel sources only.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "parallel/codec/cuda/extent.h"
#include "parallel/codec/kernels.h"
#include "runtime/element_cast.h"

namespace torus::parallel::cuda {

// Called by all threads of a block (kPlainThreads, 256), before a barrier.
__device__ inline void LoadNumbers(const float (&from)[256], float* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

// How many of the 256 ascending `middles` lie below the value; the last one is infinite.
__device__ inline uint8_t NearestPlace(const float* middles, float value) {
  int place = 0;
  for (int step = 128; step > 0; step /= 2)
    if (value > middles[place + step - 1]) place += step;
  return static_cast<uint8_t>(place);
}

// Each thread block processes whole blocks of values. Sets extent->non_finite, which must be 0
// before.
template <class T>
__global__ void Dynamic8EncodeKernel(const T* values, int64_t count, int64_t block,
                                     Numbers8 numbers, Extent* extent, uint8_t* out) {
  __shared__ float middles[256];
  LoadNumbers(numbers.middles, middles);
  __syncthreads();
  const int64_t blocks = (count + block - 1) / block;
  uint8_t* const codes = out + sizeof(float) * blocks;
  bool finite = true;
  for (int64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    const int64_t begin = b * block, end = begin + block < count ? begin + block : count;
    uint32_t widest = 0;  // magnitudes are ordered as their bits
    for (int64_t i = begin + threadIdx.x; i < end; i += kPlainThreads) {
      const uint32_t bits = FloatBits(values[i]) & 0x7fffffffu;
      finite = finite && IsFiniteBits(bits);
      if (bits > widest) widest = bits;
    }
    widest = torus::cuda::CombineBlock<kPlainThreads>(widest, torus::cuda::Larger());
    const float most = std::bit_cast<float>(widest);
    if (threadIdx.x == 0) reinterpret_cast<float*>(out)[b] = most;
    const double inverse = most > 0 ? 1 / double{most} : 0;
    for (int64_t i = begin + threadIdx.x; i < end; i += kPlainThreads) {
      const float value = std::bit_cast<float>(FloatBits(values[i]));
      codes[i] = NearestPlace(middles, static_cast<float>(value * inverse));
    }
  }
  if (!finite) atomicMax(&extent->non_finite, 1u);
}

template <class T>
__global__ void Dynamic8DecodeKernel(const uint8_t* in, int64_t count, int64_t block,
                                     Numbers8 numbers, T* out) {
  __shared__ float own[256];
  LoadNumbers(numbers.numbers, own);
  __syncthreads();
  const int64_t blocks = (count + block - 1) / block;
  const uint8_t* const codes = in + sizeof(float) * blocks;
  const int64_t stride = int64_t{gridDim.x} * kPlainThreads;
  for (int64_t i = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x; i < count; i += stride) {
    const float most = reinterpret_cast<const float*>(in)[i / block];
    const bool fits = most - most == 0 && most >= 0;
    const float value = most * own[codes[i]];
    out[i] = ElementCast<T, float>()(fits ? value : std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace torus::parallel::cuda
