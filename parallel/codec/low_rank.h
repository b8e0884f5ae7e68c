// LowRank: a tensor, viewed as an n x m matrix M (matrix_form.h), is sent as factors P, n x r, and
// Q, m x r, and restored as P Q^T. If the factors would not be smaller, the tensor is sent
// unchanged.
//
//   svd:r       the nearest matrix of rank r (Eckart and Young, 1936): Q has the eigenvectors of
//               M^T M with the greatest eigenvalues, P = M Q; if there are fewer rows than columns,
//               P has those of M M^T, Q = M^T P. In float64, n m min(n, m) operations.
//   powersgd:r  one step of the power method (Vogels et al., "PowerSGD", arXiv:1905.13727,
//               algorithm 1): P = M Q, orthonormalised, then Q = M^T P. With memory, the initial Q
//               is that of the last training tensor with as many columns (warm start), so over the
//               steps it approaches svd. Otherwise it is random, always with the same numbers.
//
// Error: for svd, the squared errors sum to the squares of the omitted singular values. For
// powersgd, they sum to at most the squares of M's values, since P is orthonormal. Both up to the
// rounding of the factors.
//
// Nothing is written if a value or a factor is infinite or NaN (codec.h).
//
// The values left for the next codec are P by rows, then Q by rows, as float32. There are no side
// bytes.
#pragma once

#include "parallel/codec/factor_codec.h"
#include "parallel/codec/transform.h"

namespace torus::parallel {

class LowRank : public Transform, private FactorCodec {
 public:
  enum class Method : uint8_t { kSvd, kPowerSgd };

  // Throws BadInput unless 1 <= rank <= 64.
  LowRank(Method method, int64_t rank);

  std::string name() const override;
  int64_t Values(const Shape& shape) const override;
  size_t SideBytes(const Shape& /*shape*/) const override { return 0; }
  bool Forward(const CodecContext& context, std::span<const float> in, std::span<float> kept,
               std::span<std::byte> side) const override;
  void Inverse(const CodecContext& context, std::span<const float> kept,
               std::span<const std::byte> side, std::span<float> out) const override;
  bool is_stateful() const override { return method_ == Method::kPowerSgd; }
  // For powersgd only. Replicas with different memories start with different Q. Then P is not the
  // product of their sum with any one Q, but it is still orthonormal and the same on all replicas,
  // so the error bound above holds.
  const FactorCodec* factors() const override { return is_stateful() ? this : nullptr; }

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
