// Hadamard: a rotation in front of a quantizer ("hadamard+uniform:4"). Each block of up to 1024
// values has its signs changed by fixed random numbers and goes through a Hadamard transform,
// divided by the square root of the block's size. This spreads an outlier over its block (Suresh et
// al., "Distributed mean estimation with limited communication", ICML 2017, section 3). Then signs
// change once more: else an error that all values of a block have in common, as those of a block of
// zeros have, would return as one large error of the block's first value.
//
// A block has 2^m values: m = 10 or, for fewer than 1024 values in all, the smallest m whose block
// holds them. The last block is padded with zeros, which are sent too.
//
// Error: the rotation is orthogonal, so the squared errors of a block's values sum to those of the
// quantized ones, up to float32 rounding (2^-23 m of the block's norm each way).
//
// Forward returns false, so nothing is written, if a value is infinite or NaN, or a sum overflows.
// A sum that overflows on the way back, for values near float32's maximum, gives an infinity or
// NaN.
#pragma once

#include "parallel/codec/transform.h"

namespace torus::parallel {

class Hadamard : public Transform {
 public:
  static constexpr int64_t kMostBlock = 1024;

  std::string name() const override { return "hadamard"; }
  int64_t Values(const Shape& shape) const override;
  size_t SideBytes(const Shape& /*shape*/) const override { return 0; }
  bool Forward(const CodecContext& context, std::span<const float> in, std::span<float> kept,
               std::span<std::byte> side) const override;
  void Inverse(const CodecContext& context, std::span<const float> kept,
               std::span<const std::byte> side, std::span<float> out) const override;
};

}  // namespace torus::parallel
