// GemmShape: everything about a product that cuBLASLt's choice may depend on, as plain data.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <type_traits>

#include "ops/cuda/gemm.h"
#include "runtime/dtype.h"

namespace torus::cuda {

struct MatrixShape {
  int64_t stride = 0, batch_stride = 0;  // in elements
  bool transposed = false;
  uint32_t alignment = 256;  // of every matrix, in bytes
  friend auto operator<=>(const MatrixShape&, const MatrixShape&) = default;
};

struct GemmShape {
  DType in, out;
  bool tf32 = false;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  MatrixShape a, b, c;
  bool scaled = false;  // alpha is not 1
  bool adds = false;    // beta is not 0
  uint32_t added_alignment = 256;
  EpilogueKind epilogue = EpilogueKind::kNone;
  bool biased = false;
  bool with_matrix = false;  // of the epilogue
  int64_t matrix_stride = 0;
  uint32_t vector_alignment = 256;  // of the bias, or of the sums of an operand
  uint32_t result_alignment = 256;  // of all that is accessed together with the result
  friend auto operator<=>(const GemmShape&, const GemmShape&) = default;
};

// All of it.
std::string TextOf(const GemmShape& shape);
// What a person calls it: its types, sizes and epilogue.
std::string NameOf(const GemmShape& shape);
// Whether rows and matrices of operands that tensor cores read start at multiples of 16 bytes. If
// not, cuBLASLt has only slow kernels.
bool IsAligned(const GemmShape& shape);

// Counts a product for which there is no plan, or only a slow one because it is not aligned
// (CountFallback).
void CountSlowOrNone(const GemmShape& shape, bool has_plan);

// The largest power of two, up to 256, that divides each of these addresses, in bytes.
inline uint32_t ProductAlignment(uintptr_t addresses) {
  const uintptr_t bits = addresses | 256u;
  return static_cast<uint32_t>(bits & (~bits + 1));
}
inline uint32_t ProductAlignment(const void* address) {
  return ProductAlignment(reinterpret_cast<uintptr_t>(address));
}

template <class T>
MatrixShape ShapeOf(const GemmMatrix<T>& matrix) {
  const auto addresses = reinterpret_cast<uintptr_t>(matrix.data) |
                         static_cast<uintptr_t>(matrix.batch_stride) * sizeof(T);
  return {matrix.stride, matrix.batch_stride, matrix.transposed, ProductAlignment(addresses)};
}

// The epilogue's vector and matrix are accessed together with the result, so it has the common
// alignment of all; null has any alignment.
template <class In, class Out>
GemmShape ShapeOf(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue, bool tf32) {
  const EpilogueKind kind = epilogue.kind;
  const bool sums = kind == EpilogueKind::kSumsOfA || kind == EpilogueKind::kSumsOfB;
  const void* const vector = sums ? epilogue.out : call.bias;
  const void* const matrix = sums                                  ? nullptr
                             : kind == EpilogueKind::kGelu         ? epilogue.out
                             : kind == EpilogueKind::kGeluGradient ? epilogue.in
                                                                   : nullptr;
  const MatrixShape c = ShapeOf(call.c);
  const uint32_t of_vector = ProductAlignment(vector);
  return {.in = kDTypeOf<In>,
          .out = kDTypeOf<Out>,
          .tf32 = tf32 && std::is_same_v<In, float>,
          .m = call.m,
          .n = call.n,
          .k = call.k,
          .batch = call.batch,
          .a = ShapeOf(call.a),
          .b = ShapeOf(call.b),
          .c = c,
          .scaled = call.alpha != 1,
          .adds = call.beta != 0,
          .added_alignment = ProductAlignment(call.added),
          .epilogue = kind,
          .biased = call.bias != nullptr,
          .with_matrix = matrix != nullptr,
          .matrix_stride = matrix == nullptr ? 0 : epilogue.stride,
          .vector_alignment = of_vector,
          .result_alignment = std::min({c.alignment, of_vector, ProductAlignment(matrix)})};
}

}  // namespace torus::cuda
