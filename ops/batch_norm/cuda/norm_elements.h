// Per-element arithmetic shared by batch norm's kernels. For kernel sources only.
#pragma once

#include <cmath>
#include <limits>

#include "ops/batch_norm/channel_affine.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/kernel.h"
#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/unroll.h"

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

// The coefficients of y = (x - mean) scale + bias, of all channels.
template <class Sum>
struct AffineOf {
  explicit AffineOf(const ops::ChannelAffine& affine)
      : mean(Elements<Sum>(affine.mean)),
        scale(Elements<Sum>(affine.scale)),
        bias(Elements<Sum>(affine.bias)) {}
  const Sum *mean, *scale, *bias;
};

// Those of the channels of a pack, in registers.
template <class Sum, int pack>
struct PackAffine {
  Wide<Sum, pack> mean, scale, bias;

  __device__ static PackAffine Of(const AffineOf<Sum>& affine, int channel) {
    return {ReadWide<pack>(affine.mean + channel), ReadWide<pack>(affine.scale + channel),
            ReadWide<pack>(affine.bias + channel)};
  }
  // The value before the activation. Forward and backward both compute it here, and products and
  // sums are joined by name, so that their bits agree for all types.
  __device__ Wide<Sum, pack> operator()(const Wide<Sum, pack>& x,
                                        const Wide<Sum, pack>& residual) const {
    return (*this)(x) + residual;
  }
  __device__ Wide<Sum, pack> operator()(const Wide<Sum, pack>& x) const {
    Wide<Sum, pack> y;
    TORUS_UNROLL
    for (int k = 0; k < pack; ++k)
      y.at[k] = std::fma(x.at[k] - mean.at[k], scale.at[k], bias.at[k]);
    return y;
  }
};

}  // namespace torus::cuda
