// C = alpha op(A) op(B) + beta C + bias over row-major matrices in a GPU's memory: the one GEMM of
// the GPU ops. cuBLASLt's, in f32 without TF32 or in f64; on an emulated GPU a plain kernel.
#pragma once

#include <cstdint>

#include "runtime/device.h"

namespace torus::cuda {

// A batch of matrices as stored; strides are in elements.
template <class T>
struct GemmMatrix {
  T* data;
  int64_t stride;            // between stored rows, at least a row's length and 1
  bool transposed = false;   // the transposes of the stored ones take part; not of C
  int64_t batch_stride = 0;  // between matrices; 0 repeats one, not of C
};

template <class T>
struct GemmCall {
  int64_t m, n, k;  // op(A) is (m, k), op(B) is (k, n), C is (m, n)
  GemmMatrix<const T> a, b;
  GemmMatrix<T> c;
  T alpha = 1, beta = 0;
  const T* bias = nullptr;  // (n), added to each row of each C; null: none
  int64_t batch = 1;
};

// With beta 0, C is written and never read, so it may hold NaN. Zero sizes are allowed. C must
// overlap neither A nor B. All lie on `device`, the calling thread's GPU. The same call gives the
// same bits on GPUs of one kind. BrokenEnvironment, naming cuBLASLt's call and the device, where it
// fails or has no way to multiply such matrices.
void Gemm(const GemmCall<float>& call, Device device, StreamHandle stream);
void Gemm(const GemmCall<double>& call, Device device, StreamHandle stream);

}  // namespace torus::cuda
