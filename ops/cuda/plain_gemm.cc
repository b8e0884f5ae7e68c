// The GEMM of emulated GPUs, where there is no cuBLASLt.
#include "ops/cuda/gemm.h"
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

template <class T>
struct ProductStrip {
  GemmCall<T> call;
  Steps<const T> a, b;
  int64_t strips;  // of a row

  __device__ void operator()(int64_t i) const {
    const int64_t column = i % strips * kStrip, row = i / strips % call.m;
    const int64_t matrix = i / strips / call.m;
    const int64_t width = column + kStrip < call.n ? kStrip : call.n - column;
    const T* left = a.data + matrix * a.batch + row * a.down;
    const T* right = b.data + matrix * b.batch + column * b.across;
    T sums[kStrip] = {};
    for (int64_t p = 0; p < call.k; ++p)
      for (int64_t j = 0; j < width; ++j)
        sums[j] += left[p * a.across] * right[p * b.down + j * b.across];
    T* out = call.c.data + matrix * call.c.batch_stride + row * call.c.stride + column;
    for (int64_t j = 0; j < width; ++j) {
      const T before = call.beta == T(0) ? T(0) : call.beta * out[j];
      const T added = call.bias == nullptr ? T(0) : call.bias[column + j];
      out[j] = call.alpha * sums[j] + before + added;
    }
  }
};

template <class T>
void Multiply(const GemmCall<T>& call, StreamHandle stream) {
  const int64_t strips = (call.n + kStrip - 1) / kStrip;
  ForEach("gemm", call.batch * call.m * strips, stream,
          ProductStrip<T>{call, Steps<const T>(call.a), Steps<const T>(call.b), strips});
}

}  // namespace

void Gemm(const GemmCall<float>& call, Device, StreamHandle stream) { Multiply(call, stream); }
void Gemm(const GemmCall<double>& call, Device, StreamHandle stream) { Multiply(call, stream); }

}  // namespace torus::cuda
