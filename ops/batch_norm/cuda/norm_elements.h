// Per-element arithmetic shared by batch norm's kernels. For kernel sources only.
#pragma once

#include <limits>

#include "ops/batch_norm/channel_affine.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/kernel.h"

namespace torus::cuda {

inline constexpr const char* kNormOp = "batch_norm";

// An activation that clamps; its gradient is 1 strictly between the bounds and 0 elsewhere.
template <class T>
struct Bounds {
  explicit Bounds(ops::Activation activation)
      : clamps(activation != ops::Activation::kNone),
        low(clamps ? T(0) : -std::numeric_limits<T>::infinity()),
        high(activation == ops::Activation::kRelu6 ? T(6) : std::numeric_limits<T>::infinity()) {}
  bool clamps;
  T low, high;
  // NaN passes through.
  __device__ T Clamped(T t) const { return t < low ? low : t > high ? high : t; }
  __device__ bool Passes(T t) const { return !clamps || (low < t && t < high); }
};

// y = (x - mean) scale + bias for a channel.
template <class T>
struct AffineOf {
  explicit AffineOf(const ops::ChannelAffine& affine)
      : mean(Elements<T>(affine.mean)),
        scale(Elements<T>(affine.scale)),
        bias(Elements<T>(affine.bias)) {}
  const T *mean, *scale, *bias;
  __device__ T operator()(T x, int64_t c) const { return (x - mean[c]) * scale[c] + bias[c]; }
};

// The value before the activation. Forward and backward both compute it here, so their bits agree.
template <class T>
struct BeforeActivation {
  AffineOf<SumOf<T>> affine;
  const T *x, *residual;  // residual may be null
  __device__ SumOf<T> operator()(int64_t i, int64_t c) const {
    const SumOf<T> t = affine(Widened(x[i]), c);
    return residual != nullptr ? t + Widened(residual[i]) : t;
  }
};

// The number of rows of x (..., C).
inline int64_t RowsOf(const Tensor& x) { return x.numel() == 0 ? 0 : x.numel() / x.dim(-1); }

}  // namespace torus::cuda
