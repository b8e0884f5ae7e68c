#include "ops/cuda/gemm_shape.h"

#include <fmt/format.h>

#include "ops/cuda/plans.h"

namespace torus::cuda {
namespace {

const char* NameOf(EpilogueKind kind) {
  switch (kind) {
    case EpilogueKind::kNone:
      return "";
    case EpilogueKind::kGelu:
      return " with GELU";
    case EpilogueKind::kGeluGradient:
      return " with GELU's derivative";
    case EpilogueKind::kSumsOfA:
      return " with sums of A";
    case EpilogueKind::kSumsOfB:
      return " with sums of B";
  }
  return "";
}

std::string TextOf(const MatrixShape& m) {
  return fmt::format("{}{} by {} at {}", m.stride, m.transposed ? " transposed" : "",
                     m.batch_stride, m.alignment);
}

}  // namespace

std::string NameOf(const GemmShape& s) {
  const std::string types =
      s.in == s.out ? std::string(Name(s.in)) : fmt::format("{} to {}", Name(s.in), Name(s.out));
  return fmt::format("product {}{} {}{} x {} x {}{}{}", types, s.tf32 ? " as TF32" : "",
                     s.batch == 1 ? "" : fmt::format("{} of ", s.batch), s.m, s.k, s.n,
                     s.biased ? " with bias" : "", NameOf(s.epilogue));
}

std::string TextOf(const GemmShape& s) {
  return fmt::format(
      "{}, A {}, B {}, C {}, alpha {}, beta {}, added at {}, vector at {}, matrix {} {}, result at "
      "{}",
      NameOf(s), TextOf(s.a), TextOf(s.b), TextOf(s.c), s.scaled ? "any" : "1",
      s.adds ? "any" : "0", s.added_alignment, s.vector_alignment, s.with_matrix ? "by" : "none",
      s.matrix_stride, s.result_alignment);
}

bool IsAligned(const GemmShape& s) {
  if (!IsLow(s.in) && !s.tf32) return true;
  constexpr int64_t kBytes = 16;
  const auto fits = [&](const MatrixShape& m, DType dtype) {
    return m.alignment >= kBytes && m.stride * static_cast<int64_t>(SizeOf(dtype)) % kBytes == 0;
  };
  return fits(s.a, s.in) && fits(s.b, s.in) && fits(s.c, s.out);
}

void CountSlowOrNone(const GemmShape& shape, bool has_plan) {
  if (WithPlans::Current() == nullptr) return;
  if (!has_plan)
    CountFallback(NameOf(shape));
  else if (!IsAligned(shape))
    CountFallback(NameOf(shape) + ", not aligned");
}

}  // namespace torus::cuda
