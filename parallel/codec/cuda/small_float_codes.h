// Kernels that encode values as smaller floats and decode them (small_floats.h). For kernel sources
// only.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "parallel/codec/cuda/extent.h"
#include "parallel/codec/float8.h"
#include "parallel/codec/small_float_bits.h"
#include "runtime/element_cast.h"

namespace torus::parallel::cuda {

// Sets extent->non_finite, which must be 0 before.
template <class T, class Format>
__global__ void Encode16Kernel(const T* values, int64_t count, Extent* extent, uint16_t* out) {
  bool finite = true;
  const int64_t stride = int64_t{gridDim.x} * kPlainThreads;
  for (int64_t i = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x; i < count; i += stride) {
    const uint32_t bits = FloatBits(values[i]);
    finite = finite && IsFiniteBits(bits);
    out[i] = Format::FromFloat(std::bit_cast<float>(bits));
  }
  if (!finite) atomicMax(&extent->non_finite, 1u);
}

// Replaces infinities by NaN.
__device__ inline float FiniteOrNaN(float value) {
  return value - value == 0 ? value : std::numeric_limits<float>::quiet_NaN();
}

template <class T, class Format>
__global__ void Decode16Kernel(const uint16_t* in, int64_t count, T* out) {
  const int64_t stride = int64_t{gridDim.x} * kPlainThreads;
  for (int64_t i = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x; i < count; i += stride)
    out[i] = ElementCast<T, float>()(FiniteOrNaN(Format::ToFloat(in[i])));
}

// Runs in one thread.
template <class F>
__global__ void Float8HeaderKernel(const Extent* extent, int64_t count, int32_t* header) {
  const float least = LeastOf(*extent, count), greatest = GreatestOf(*extent, count);
  *header = ScalePower<F>(-least > greatest ? -least : greatest);
}

template <class T, class F>
__global__ void Encode8Kernel(const T* values, int64_t count, const Extent* extent, uint8_t* out) {
  if (extent->non_finite != 0) return;
  const double scale = PowerOfTwo(*reinterpret_cast<const int32_t*>(out));
  const int64_t stride = int64_t{gridDim.x} * kPlainThreads;
  for (int64_t i = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x; i < count; i += stride) {
    const float value = std::bit_cast<float>(FloatBits(values[i]));
    out[sizeof(int32_t) + i] = F::FromFloat(static_cast<float>(value * scale));
  }
}

template <class T, class F>
__global__ void Decode8Kernel(const uint8_t* in, int64_t count, T* out) {
  const int32_t power = *reinterpret_cast<const int32_t*>(in);
  const bool fits = power >= kLeastScalePower && power <= kMostScalePower;
  const double scale = fits ? PowerOfTwo(-power) : 0;
  const int64_t stride = int64_t{gridDim.x} * kPlainThreads;
  for (int64_t i = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x; i < count; i += stride) {
    const uint8_t code = in[sizeof(int32_t) + i];
    const bool finite = fits && (code & 0x7fu) <= F::kGreatest;
    const float value = ScaledFloat8<F>(code, scale);
    out[i] = ElementCast<T, float>()(finite ? value : std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace torus::parallel::cuda
