// Low rank: a tensor, as a matrix M of n x m (matrix_form.h), becomes factors P, n x r, and Q, m x
// r, and comes back as P Q^T. A tensor whose factors would not be smaller goes as it is.
//
//   svd:r       the nearest matrix of rank r (Eckart and Young, 1936): Q has the eigenvectors of
//               M^T M with the greatest eigenvalues, P = M Q, or the other way round where there
//               are fewer rows. In float64, n m min(n, m) operations.
//   powersgd:r  a step of the power method (Vogels et al., "PowerSGD", arXiv:1905.13727,
//               algorithm 1): P = M Q, orthonormalised, then Q = M^T P. Where there is memory, Q
//               begins as that of the last tensor of training with as many columns (warm start),
//               so that over steps it comes near svd; else with random numbers that are always the
//               same.
//
// Error: of svd, the squares of all errors sum to those of the singular values that are left out;
// of powersgd, they sum to at most those of M's values, since P is orthonormal. Both but for the
// rounding of the factors.
//
// Nothing is written where a value, or one of the factors, is infinite or NaN (codec.h).
//
// What is left for a codec behind: P by rows, then Q by rows, as float32. No bytes beside.
#pragma once

#include "parallel/codec/factor_codec.h"
#include "parallel/codec/transform.h"

namespace torus::parallel {

class LowRank : public Transform, private FactorCodec {
 public:
  enum class Method : uint8_t { kSvd, kPowerSgd };

  // BadInput unless 1 <= rank <= 64.
  LowRank(Method method, int64_t rank);

  std::string name() const override;
  int64_t Values(const Shape& shape) const override;
  size_t SideBytes(const Shape& /*shape*/) const override { return 0; }
  bool Forward(const CodecContext& context, std::span<const float> in, std::span<float> kept,
               std::span<std::byte> side) const override;
  void Inverse(const CodecContext& context, std::span<const float> kept,
               std::span<const std::byte> side, std::span<float> out) const override;
  bool remembers() const override { return method_ == Method::kPowerSgd; }
  // Of powersgd. Replicas whose memories differ begin with different Q: then P is no product of the
  // sum with one of them, but orthonormal and the same on all, and what is said of errors holds.
  const FactorCodec* factors() const override { return remembers() ? this : nullptr; }

 private:
  Sizes SizesOf(const Shape& shape) const override;
  void MakeP(const CodecContext& context, std::span<float> values,
             std::span<float> p) const override;
  void MakeQ(const CodecContext& context, std::span<const float> values, std::span<float> p,
             std::span<float> q) const override;
  void Multiply(const CodecContext& context, std::span<const float> p, std::span<const float> q,
                std::span<float> values) const override;

  Method method_;
  int64_t rank_;
};

}  // namespace torus::parallel
