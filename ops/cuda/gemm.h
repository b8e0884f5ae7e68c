// C = alpha op(A) op(B) + beta C + bias over row-major matrices in a GPU's memory: the one GEMM of
// the GPU ops. cuBLASLt's; on an emulated GPU a plain kernel.
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
  int64_t stride;            // between stored rows, at least a row's length and 1
  bool transposed = false;   // the transposes of the stored ones take part; not of C
  int64_t batch_stride = 0;  // between matrices; 0 repeats one, not of C
};

// A and B are In, C and the bias Out: both f32 or both f64, or In of 16 bits and Out that or f32.
template <class In, class Out = In>
struct GemmCall {
  using Sum = SumOf<In>;  // of 16 bits sums are f32, and C is rounded once

  int64_t m, n, k;  // op(A) is (m, k), op(B) is (k, n), C is (m, n)
  GemmMatrix<const In> a, b;
  GemmMatrix<Out> c;
  Sum alpha = 1, beta = 0;
  const Out* bias = nullptr;  // (n), added to each row of each C; null: none
  int64_t batch = 1;
};

// With beta 0, C is written and never read, so it may hold NaN. Zero sizes are allowed. C must
// overlap neither A nor B. All lie on `device`, the calling thread's GPU. The same call gives the
// same bits on GPUs of one kind. f32 is multiplied with all of its bits unless WithPrecision::Tf32.
// BrokenEnvironment, naming cuBLASLt's call and the device, where it fails or has no way to
// multiply such matrices. For float, double, BFloat16, Float16, <BFloat16, float> and <Float16,
// float>.
template <class In, class Out>
void Gemm(const GemmCall<In, Out>& call, Device device, StreamHandle stream);

// What else cuBLASLt may do in the call of a product: an "epilogue". Z is what C would be without.
enum class EpilogueKind : uint8_t {
  kNone,
  kGelu,          // C = gelu(Z), by tanh; Z itself is rounded to `out`, if that is not null
  kGeluGradient,  // C = Z gelu'(in)
  kSumsOfA,       // out (m) = the sums of op(A)'s rows
  kSumsOfB,       // out (n) = the sums of op(B)'s columns
};

// `in` and `out` are (m, n) where they are not said to be vectors.
template <class Out>
struct GemmEpilogue {
  EpilogueKind kind = EpilogueKind::kNone;
  Out* out = nullptr;
  const Out* in = nullptr;
  int64_t stride = 0;  // between rows of the matrix
};

// Which epilogues are taken: of one product that adds nothing to C, from 16 bits. Sums are f32, so
// C is too. GELU's results are bf16: nothing says how exactly cuBLASLt computes its tanh, and of
// f32 or f16 a GPU's quick one, wrong by 2^-11, would spoil digits. Its matrix' rows begin at
// multiples of 8 elements (cublasLt.h, "Leading dimension for epilogue auxiliary buffer"). A bias
// goes with GELU alone.
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

// Gemm with an epilogue in the same call. Returns false, and has written nothing, where cuBLASLt
// has none for such a call. Without a GPU a plain kernel takes the calls that MayHaveEpilogue.
template <class In, class Out>
bool GemmWithEpilogue(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue,
                      Device device, StreamHandle stream);

// F(Out, types of the GemmCall...) for each product that there is, where it is instantiated.
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

// Calls f for the C++ types of a product's operands and result. BadInput tagged `op` for types that
// Gemm does not have.
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
