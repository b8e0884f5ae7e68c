// Helpers that run f32 kernels on bf16 data, in pieces that stay in the first-level cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/dtype.h"

namespace torus::cpu {

constexpr int64_t kLowPiece = 1024;  // elements

inline void Widen(const BFloat16* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}

// Rounds to nearest, ties to even.
inline void Round(const float* x, int64_t n, BFloat16* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = BFloat16(x[i]);
}

// Calls compute(begin, count) for consecutive pieces that cover [begin, end).
template <class Compute>
void ForPieces(int64_t begin, int64_t end, const Compute& compute) {
  for (int64_t at = begin; at < end; at += kLowPiece) compute(at, std::min(kLowPiece, end - at));
}

}  // namespace torus::cpu
