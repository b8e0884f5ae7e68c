// The products of attention's tiles, in f32 or in bf16 with f32 sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "ops/attention/cpu/attention_call.h"
#include "ops/cpu/gemm.h"
#include "ops/cpu/low_gemm.h"
#include "ops/cpu/low_pieces.h"

namespace torus::cpu {

// Uninitialised elements.
template <class T = float>
std::unique_ptr<T[]> Scratch(int64_t count) {
  return std::unique_ptr<T[]>(new T[static_cast<size_t>(count)]);
}

// A tile of f32 numbers, times a factor, as the left operand of products with matrices of T.
template <class T>
class TileOperand;

template <>
class TileOperand<float> {
 public:
  explicit TileOperand(int64_t /*largest*/) {}
  // Keeps the pointer.
  void Take(const float* tile, int64_t stride, int64_t /*rows*/, int64_t /*columns*/,
            float factor) {
    tile_ = tile, stride_ = stride, factor_ = factor;
  }
  // C = op(tile) B, or C += op(tile) B; op(tile) is (m, k), B is (k, n).
  void Times(Transpose transpose, int64_t m, int64_t n, int64_t k, const float* b, int64_t ldb,
             bool add, float* c, int64_t ldc) const {
    Gemm(transpose, Transpose::kNo, m, n, k, factor_, tile_, stride_, b, ldb, add ? 1.0f : 0.0f, c,
         ldc);
  }

 private:
  const float* tile_ = nullptr;
  int64_t stride_ = 0;
  float factor_ = 1;
};

template <>
class TileOperand<BFloat16> {
 public:
  // For tiles of at most `largest` elements.
  explicit TileOperand(int64_t largest) : rounded_(Scratch<BFloat16>(largest)) {}
  // Rounds a copy, after the factor.
  void Take(const float* tile, int64_t stride, int64_t rows, int64_t columns, float factor) {
    columns_ = columns;
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = tile + r * stride;
      BFloat16* to = rounded_.get() + r * columns;
      for (int64_t j = 0; j < columns; ++j) to[j] = BFloat16(factor * from[j]);
    }
  }
  void Times(Transpose transpose, int64_t m, int64_t n, int64_t k, const BFloat16* b, int64_t ldb,
             bool add, float* c, int64_t ldc) const {
    LowGemm<float>(transpose, Transpose::kNo, m, n, k, rounded_.get(), columns_, b, ldb, nullptr,
                   add, c, ldc);
  }

 private:
  std::unique_ptr<BFloat16[]> rounded_;
  int64_t columns_ = 0;
};

// C = factor A B^T.
inline void RowsTimesRows(int64_t m, int64_t n, int64_t k, float factor, const float* a,
                          int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc) {
  Gemm(Transpose::kNo, Transpose::kYes, m, n, k, factor, a, lda, b, ldb, 0.0f, c, ldc);
}

inline void RowsTimesRows(int64_t m, int64_t n, int64_t k, float factor, const BFloat16* a,
                          int64_t lda, const BFloat16* b, int64_t ldb, float* c, int64_t ldc) {
  LowGemm<float>(Transpose::kNo, Transpose::kYes, m, n, k, a, lda, b, ldb, nullptr, false, c, ldc);
  for (int64_t i = 0; factor != 1 && i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] *= factor;
}

// Where the sums of rows of T are kept: in the f32 result itself, or in a buffer that is rounded
// into the bf16 result once.
template <class T>
class RowSums;

template <>
class RowSums<float> {
 public:
  RowSums(int64_t /*rows*/, int64_t width) : width_(width) {}
  void Begin(float* out, int64_t stride) { out_ = out, stride_ = stride; }
  float* at(int64_t row) const { return out_ + row * stride_; }
  int64_t stride() const { return stride_; }
  void Clear(int64_t rows) const {
    for (int64_t r = 0; r < rows; ++r) std::fill_n(at(r), width_, 0.0f);
  }
  void Finish(int64_t /*rows*/) const {}

 private:
  int64_t width_, stride_ = 0;
  float* out_ = nullptr;
};

template <>
class RowSums<BFloat16> {
 public:
  // For at most `rows` rows.
  RowSums(int64_t rows, int64_t width) : width_(width), sums_(Scratch(rows * width)) {}
  void Begin(BFloat16* out, int64_t stride) { out_ = out, stride_ = stride; }
  float* at(int64_t row) const { return sums_.get() + row * width_; }
  int64_t stride() const { return width_; }
  void Clear(int64_t rows) const { std::fill_n(sums_.get(), rows * width_, 0.0f); }
  void Finish(int64_t rows) const {
    for (int64_t r = 0; r < rows; ++r) Round(at(r), width_, out_ + r * stride_);
  }

 private:
  int64_t width_, stride_ = 0;
  std::unique_ptr<float[]> sums_;
  BFloat16* out_ = nullptr;
};

}  // namespace torus::cpu
