// C = alpha op(A) op(B) + beta (C or another matrix) + bias over row-major matrices in GPU memory:
// the GEMM of all GPU ops. Uses cuBLASLt, or a plain kernel on an emulated GPU.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/error.h"

namespace torus::cuda {

// A batch of matrices as stored; strides are in elements.
template <class T>
struct GemmMatrix {
  T* data;
  int64_t stride;            // between stored rows; at least the row length, and at least 1
  bool transposed = false;   // multiplies by the transposes of the stored matrices; not for C
  int64_t batch_stride = 0;  // between matrices; 0 repeats one matrix (not for C)
};

// A and B have type In, C and the bias Out: both f32, both f64, or In a 16-bit type and Out the
// same or f32.
template <class In, class Out = In>
struct GemmCall {
  using Sum = SumOf<In>;  // f32 for 16-bit types, also where k is cut into parts; C is rounded once

  int64_t m, n, k;  // op(A) is (m, k), op(B) is (k, n), C is (m, n)
  GemmMatrix<const In> a, b;
  GemmMatrix<Out> c;
  Sum alpha = 1, beta = 0;
  const Out* bias = nullptr;   // (n), added to each row of each C; null: none
  const Out* added = nullptr;  // what beta multiplies, stored as C is; null: C as it was
  int64_t batch = 1;
};

// With beta 0, or another matrix to add, C is written and never read, so it may hold NaN. Zero
// sizes are allowed. C must overlap no other matrix, but it may be the one that is added. All
// memory is on `device`, the calling thread's GPU. Which of cuBLASLt's algorithms is taken the
// thread's Plans say (plans.h); the same call and choice give the same bits on GPUs of the same
// model. f32 products use full f32 precision unless WithPrecision::Tf32(). Throws
// BrokenEnvironment that names cuBLASLt's call and the device if the call fails or cuBLASLt cannot
// multiply such matrices. With a 16-bit C, some of cuBLASLt's algorithms round the product to C's
// type before they add a bias or apply an epilogue, and then again; no setting of cuBLASLt forbids
// that. Instantiated for float, double, BFloat16, Float16, <BFloat16, float> and <Float16, float>.
template <class In, class Out>
void Gemm(const GemmCall<In, Out>& call, Device device, StreamHandle stream);

// What cuBLASLt computes in addition to a product, its "epilogue". Z is what C would be without it.
enum class EpilogueKind : uint8_t {
  kNone,
  kGelu,          // C = gelu(Z), the tanh form; writes Z, rounded, to `out` unless null
  kGeluGradient,  // C = Z gelu'(in)
  kSumsOfA,       // out (m) = the sums of op(A)'s rows
  kSumsOfB,       // out (n) = the sums of op(B)'s columns
};

// `in` and `out` are (m, n) unless described as vectors above.
template <class Out>
struct GemmEpilogue {
  EpilogueKind kind = EpilogueKind::kNone;
  Out* out = nullptr;
  const Out* in = nullptr;
  int64_t stride = 0;  // between rows of the matrix
};

// Which epilogues may be used: those of a single product of 16-bit operands with beta 0. With the
// sums, C is f32, because they are. With GELU, all types are bf16: cuBLASLt does not document the
// accuracy of its tanh, and a GPU's fast tanh, with an error of 2^-11, would be too inexact for f32
// or f16. Rows of GELU's extra matrix must start at multiples of 8 elements (cublasLt.h, "Leading
// dimension for epilogue auxiliary buffer"). Only kGelu combines with a bias.
template <class In, class Out>
bool MayHaveEpilogue(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue) {
  const bool sums =
      epilogue.kind == EpilogueKind::kSumsOfA || epilogue.kind == EpilogueKind::kSumsOfB;
  const bool types = sums ? sizeof(In) == 2 && std::is_same_v<Out, float>
                          : std::is_same_v<In, BFloat16> && std::is_same_v<Out, BFloat16>;
  const bool biased = call.bias != nullptr && epilogue.kind != EpilogueKind::kGelu;
  return types && !biased && call.m > 0 && call.n > 0 && call.k > 0 && call.batch == 1 &&
         call.beta == 0 && epilogue.stride % 8 == 0;
}

// Gemm with an epilogue in the same call. Returns false, having written nothing, if cuBLASLt does
// not support it for this call. On an emulated GPU a plain kernel runs the calls for which
// MayHaveEpilogue is true.
template <class In, class Out>
bool GemmWithEpilogue(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue,
                      Device device, StreamHandle stream);

// Calls F(Out, types of the GemmCall...) for each supported combination of types.
// clang-format off
#define TORUS_OF_PRODUCTS(F)   \
  F(float, float)              \
  F(double, double)            \
  F(BFloat16, BFloat16)        \
  F(float, BFloat16, float)    \
  F(Float16, Float16)          \
  F(float, Float16, float)
// clang-format on

template <class In, class Out>
struct ProductTypes {};

// Calls f for the C++ types of a product's operands and result. Throws BadInput tagged `op` for
// types that Gemm does not support.
template <class F>
void VisitProduct(std::string_view op, DType in, DType out, const F& f) {
  if (!IsLow(in)) {
    Require(in == out, op, "needs a result of {}, got {}", Name(in), Name(out));
    return VisitCompute(op, in, [&]<class T>(ComputeType<T>) { f(ProductTypes<T, T>()); });
  }
  Require(out == in || out == DType::kF32, op, "needs a result of {} or f32, got {}", Name(in),
          Name(out));
  const auto with = [&]<class Low>(Low) {
    out == in ? f(ProductTypes<Low, Low>()) : f(ProductTypes<Low, float>());
  };
  in == DType::kBF16 ? with(BFloat16()) : with(Float16());
}

}  // namespace torus::cuda
