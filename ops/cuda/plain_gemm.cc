// The GEMM of emulated GPUs, where there is no cuBLASLt.
#include <bit>

#include "autograd/precision.h"
#include "ops/cuda/gemm.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

constexpr int64_t kStrip = 8;  // neighbouring columns of C that one thread computes

// Element (row, column) of op(A) lies at row * down + column * across.
template <class T>
struct Steps {
  explicit Steps(const GemmMatrix<T>& m)
      : data(m.data),
        down(m.transposed ? 1 : m.stride),
        across(m.transposed ? m.stride : 1),
        batch(m.batch_stride) {}
  T* data;
  int64_t down, across, batch;
};

// What a matrix unit reads of an f32: rounded to 10 bits of its fraction.
inline float ToTf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

template <class In, class Out>
struct ProductStrip {
  using Sum = SumOf<In>;
  GemmCall<In, Out> call;
  Steps<const In> a, b;
  int64_t strips;  // of a row
  bool tf32;

  __device__ Sum Read(In value) const {
    if constexpr (std::is_same_v<In, float>)
      return tf32 ? ToTf32(value) : value;
    else
      return ElementCast<Sum, In>()(value);
  }

  __device__ void operator()(int64_t i) const {
    const int64_t column = i % strips * kStrip, row = i / strips % call.m;
    const int64_t matrix = i / strips / call.m;
    const int64_t width = column + kStrip < call.n ? kStrip : call.n - column;
    const In* left = a.data + matrix * a.batch + row * a.down;
    const In* right = b.data + matrix * b.batch + column * b.across;
    Sum sums[kStrip] = {};
    for (int64_t p = 0; p < call.k; ++p)
      for (int64_t j = 0; j < width; ++j)
        sums[j] += Read(left[p * a.across]) * Read(right[p * b.down + j * b.across]);
    const ElementCast<Sum, Out> wide;
    Out* out = call.c.data + matrix * call.c.batch_stride + row * call.c.stride + column;
    for (int64_t j = 0; j < width; ++j) {
      const Sum before = call.beta == Sum(0) ? Sum(0) : call.beta * wide(out[j]);
      const Sum added = call.bias == nullptr ? Sum(0) : wide(call.bias[column + j]);
      out[j] = ElementCast<Out, Sum>()(call.alpha * sums[j] + before + added);
    }
  }
};

}  // namespace

template <class In, class Out>
void Gemm(const GemmCall<In, Out>& call, Device, StreamHandle stream) {
  const int64_t strips = (call.n + kStrip - 1) / kStrip;
  ForEach("gemm", call.batch * call.m * strips, stream,
          ProductStrip<In, Out>{call, Steps<const In>(call.a), Steps<const In>(call.b), strips,
                                WithPrecision::Tf32()});
}

template void Gemm(const GemmCall<float>&, Device, StreamHandle);
template void Gemm(const GemmCall<double>&, Device, StreamHandle);
template void Gemm(const GemmCall<BFloat16>&, Device, StreamHandle);
template void Gemm(const GemmCall<BFloat16, float>&, Device, StreamHandle);
template void Gemm(const GemmCall<Float16>&, Device, StreamHandle);
template void Gemm(const GemmCall<Float16, float>&, Device, StreamHandle);

}  // namespace torus::cuda
