// The instances of flash attention's kernels: a type, and the columns that a tile has room for.
#pragma once

#include <algorithm>

#include "ops/attention/problem.h"

namespace torus::cuda {

inline constexpr int64_t kFlashWidest = 128;
inline constexpr int64_t kFlashLongest = 1 << 30;  // rows and keys are numbered in 32 bits

template <class T, int wide>
struct FlashCase {};

template <class Visit>
void VisitFlash(const ops::AttentionProblem& problem, DType dtype, const Visit& visit) {
  const bool narrow = std::max(problem.shape.width, problem.shape.value_width) <= 64;
  if (dtype == DType::kBF16)
    return narrow ? visit(FlashCase<BFloat16, 64>{}) : visit(FlashCase<BFloat16, 128>{});
  narrow ? visit(FlashCase<Float16, 64>{}) : visit(FlashCase<Float16, 128>{});
}

}  // namespace torus::cuda
