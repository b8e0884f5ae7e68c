#include <algorithm>

#include "runtime/cuda/kernels.h"
#include "runtime/element_cast.h"

namespace torus::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 4096;  // a grid-stride loop takes the rest

// out[i] = body(i) for all i.
template <class T, class Body>
__global__ void ForEach(T* out, int64_t count, Body body) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    out[i] = body(i);
}

template <class T>
struct Constant {
  T value;
  __device__ T operator()(int64_t) const { return value; }
};

template <class To, class From>
struct CastFrom {
  const From* in;
  __device__ To operator()(int64_t i) const { return ElementCast<To, From>()(in[i]); }
};

template <class T, class Body>
void Launch(const char* op, T* out, int64_t count, const Body& body, StreamHandle stream) {
  if (count == 0) return;
  const int64_t blocks = std::min(kMostBlocks, (count + kThreads - 1) / kThreads);
  ForEach<<<static_cast<unsigned>(blocks), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      out, count, body);
  CheckLaunch(op);
}

}  // namespace

void Fill(void* out, DType dtype, int64_t count, double value, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    Launch("fill", static_cast<T*>(out), count, Constant<T>{ElementCast<T, double>()(value)},
           stream);
  });
}

void Cast(const void* in, DType from, void* out, DType to, int64_t count, StreamHandle stream) {
  VisitDType(from, [&](auto from_zero) {
    VisitDType(to, [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      Launch("cast", static_cast<To*>(out), count, CastFrom<To, From>{static_cast<const From*>(in)},
             stream);
    });
  });
}

}  // namespace torus::cuda
