// FactorCodec: a codec whose tensors replicas can sum by two all-reduces of floats. With other
// codecs, replicas must send their bytes to all others.
//
// It approximates a tensor, viewed as a matrix M, by P Q^T, where P is M Q0 made orthonormal and Q
// is M^T P. Both products are linear in M. So if replicas start with the same Q0, sum their P, each
// make the sum orthonormal, and sum their Q, they get the factors of the sum of their matrices
// (Vogels et al., "PowerSGD", arXiv:1905.13727, algorithm 1). Factors are small, and an all-reduce
// of them costs about the same for any number of replicas.
#pragma once

#include <cstdint>
#include <span>

#include "parallel/codec/codec_context.h"

namespace torus::parallel {

// Several threads may use one object. Contexts are those of Codec::EncodeTensor. For each tensor
// MakeP, MakeQ and Multiply are called in this order. If a value or a factor is infinite or NaN,
// the function's whole output is NaN, and nothing is remembered.
class FactorCodec {
 public:
  virtual ~FactorCodec() = default;

  // The number of floats of P and of Q. Both are 0 if together they would not be fewer than the
  // tensor's: then the tensor is summed as it is.
  struct Sizes {
    int64_t p = 0, q = 0;
    bool pays() const { return p > 0; }
  };
  virtual Sizes SizesOf(const Shape& shape) const = 0;

  // p = M Q0 for this replica's `values`. A codec that adds to the values (error feedback) changes
  // them to what is to be sent.
  virtual void MakeP(const CodecContext& context, std::span<float> values,
                     std::span<float> p) const = 0;
  // Makes `p`, the sum over the replicas, orthonormal, and sets q = M^T P for `values` as MakeP
  // left them.
  virtual void MakeQ(const CodecContext& context, std::span<const float> values, std::span<float> p,
                     std::span<float> q) const = 0;
  // values = P Q^T. `q` is the sum over the replicas.
  virtual void Multiply(const CodecContext& context, std::span<const float> p,
                        std::span<const float> q, std::span<float> values) const = 0;
};

}  // namespace torus::parallel
