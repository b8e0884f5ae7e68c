// Uniform quantization kernels: values to packed codes of 1 to 16 bits and back. For kernel sources
// only.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "parallel/codec/bucket_step.h"
#include "parallel/codec/cuda/extent.h"
#include "parallel/codec/plain_format.h"
#include "runtime/element_cast.h"

namespace torus::parallel::cuda {

// Eight packed codes.
struct CodeWords {
  uint64_t low = 0, high = 0;

  __device__ void Put(int j, int bits, uint64_t code) {
    const int at = j * bits;
    if (at >= 64) {
      high |= code << (at - 64);
      return;
    }
    low |= code << at;
    if (at + bits > 64) high |= code >> (64 - at);
  }
  __device__ uint32_t Get(int j, int bits) const {
    const int at = j * bits;
    uint64_t code = at >= 64 ? high >> (at - 64) : low >> at;
    if (at < 64 && at + bits > 64) code |= high << (64 - at);
    return static_cast<uint32_t>(code) & ((1u << bits) - 1);
  }
  __device__ void Store(uint8_t* to, int bytes) const {
    for (int b = 0; b < bytes; ++b)
      to[b] = static_cast<uint8_t>(b < 8 ? low >> 8 * b : high >> 8 * (b - 8));
  }
  __device__ void Load(const uint8_t* from, int bytes) {
    for (int b = 0; b < bytes; ++b)
      (b < 8 ? low : high) |= static_cast<uint64_t>(from[b]) << 8 * (b % 8);
  }
};

// Runs in one thread: writes the header, which the kernels below read.
static __global__ void UniformHeaderKernel(const Extent* extent, int64_t count, int bits,
                                           float* header) {
  const float least = LeastOf(*extent, count);
  header[0] = least;
  header[1] = BucketStep(least, GreatestOf(*extent, count), bits);
}

// Computes a code with the roundings of quantize_kernel.h (Quantize, or QuantizeWide if `wide`).
struct UniformCode {
  float least, step, inverse;
  bool wide;
  double most;

  __device__ UniformCode(const Extent& extent, const float* header, int64_t count, int bits)
      : least(header[0]),
        step(header[1]),
        inverse(step > 0 ? 1 / step : 0),
        wide(!FitsFloat(least, GreatestOf(extent, count), step)),
        most((1 << bits) - 1) {}

  __device__ uint32_t operator()(float value) const {
    if (!wide) return static_cast<uint32_t>(static_cast<int>(rintf((value - least) * inverse)));
    if (!(step > 0)) return 0;
    const double near = rint((double{value} - double{least}) / double{step});
    return static_cast<uint32_t>(near < most ? near : most);
  }
};

template <class T>
__global__ void UniformEncodeKernel(const T* values, int64_t count, int bits, const Extent* extent,
                                    uint8_t* out) {
  if (extent->non_finite != 0) return;
  const float* const header = reinterpret_cast<const float*>(out);
  const UniformCode code(*extent, header, count, bits);
  uint8_t* const packed = out + 2 * sizeof(float);
  const int64_t stride = int64_t{gridDim.x} * kPlainThreads;
  for (int64_t i = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x; 8 * i < count; i += stride) {
    const int64_t left = count - 8 * i;
    const int some = left < 8 ? static_cast<int>(left) : 8;
    CodeWords words;
    for (int j = 0; j < some; ++j)
      words.Put(j, bits, code(std::bit_cast<float>(FloatBits(values[8 * i + j]))));
    words.Store(packed + i * bits, (some * bits + 7) / 8);
  }
}

template <class T>
__global__ void UniformDecodeKernel(const uint8_t* in, int64_t count, int bits, T* out) {
  const float* const header = reinterpret_cast<const float*>(in);
  const float step = header[1];
  const bool fits = header[0] - header[0] == 0 && step - step == 0 && step >= 0;
  const float least = fits ? header[0] : std::numeric_limits<float>::quiet_NaN();
  const uint8_t* const packed = in + 2 * sizeof(float);
  const int64_t stride = int64_t{gridDim.x} * kPlainThreads;
  for (int64_t i = int64_t{blockIdx.x} * kPlainThreads + threadIdx.x; 8 * i < count; i += stride) {
    const int64_t left = count - 8 * i;
    const int some = left < 8 ? static_cast<int>(left) : 8;
    CodeWords words;
    words.Load(packed + i * bits, (some * bits + 7) / 8);
    for (int j = 0; j < some; ++j) {
      const float point = static_cast<float>(words.Get(j, bits));
      out[8 * i + j] = ElementCast<T, float>()(fmaf(point, step, least));
    }
  }
}

}  // namespace torus::parallel::cuda
