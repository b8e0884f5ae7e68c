// FactorCodec: a codec whose tensors replicas sum by two sums of floats, where others must send
// their bytes to all.
//
// It stands for a tensor, as a matrix M, by P Q^T, where P is M Q0 made orthonormal and Q is M^T P.
// Both products are linear in M: replicas that begin with one Q0 have that of their matrices' sum
// when they have summed their P, made the sum orthonormal, each by itself, and summed their Q
// (Vogels et al., "PowerSGD", arXiv:1905.13727, algorithm 1). Factors are small, and an all-reduce
// of them costs as much whatever the number of replicas.
#pragma once

#include <cstdint>
#include <span>

#include "parallel/codec/codec_context.h"

namespace torus::parallel {

// Several threads may use one object. Contexts are those of Codec::EncodeTensor; of one tensor the
// three functions are called in their order. Where a value, or a factor, is infinite or NaN, all
// that the function makes is NaN, and nothing is remembered.
class FactorCodec {
 public:
  virtual ~FactorCodec() = default;

  // Floats of P and of Q; both 0 where they would not be fewer than the tensor's: then it is to be
  // summed as it is.
  struct Sizes {
    int64_t p = 0, q = 0;
    bool pays() const { return p > 0; }
  };
  virtual Sizes SizesOf(const Shape& shape) const = 0;

  // p = M Q0 of this replica's `values`, which become what is to be sent of them where a codec
  // adds to them (error feedback).
  virtual void MakeP(const CodecContext& context, std::span<float> values,
                     std::span<float> p) const = 0;
  // `p`, the sum over the replicas, becomes orthonormal; q = M^T P of `values` as MakeP left them.
  virtual void MakeQ(const CodecContext& context, std::span<const float> values, std::span<float> p,
                     std::span<float> q) const = 0;
  // values = P Q^T; `q`: the sum over the replicas.
  virtual void Multiply(const CodecContext& context, std::span<const float> p,
                        std::span<const float> q, std::span<float> values) const = 0;
};

}  // namespace torus::parallel
