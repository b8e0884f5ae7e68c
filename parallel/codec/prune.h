// Prune: keeps the fraction p of the values, k = ceil(p n) of n; all others become 0.
//
//   topk:p   those of greatest magnitude, the earlier of equal ones (Aji and Heafield, "Sparse
//            communication for distributed gradient descent", arXiv:1704.05021)
//   randk:p  a random choice, drawn anew for each tensor from Philox's numbers for the context's
//            seed, stream, step and micro-batch. Values are not multiplied by 1 / p: error feedback
//            sends the rest later.
//
// Error: a kept value is exact, or has the error of the next codec. With topk, the magnitude of any
// other value is at most the least that is kept.
//
// If a value is infinite or NaN, nothing is written (codec.h).
//
// Wire format: the set of kept indices (index_set.h); the kept values in order of index.
#pragma once

#include "parallel/codec/transform.h"

namespace torus::parallel {

class Prune : public Transform {
 public:
  enum class Choice : uint8_t { kGreatest, kRandom };

  // Throws BadInput unless 0 < share <= 1.
  Prune(Choice choice, double share);

  std::string name() const override;
  int64_t Values(const Shape& shape) const override;
  size_t SideBytes(const Shape& shape) const override;
  // Throws BadInput for 2^32 values or more.
  bool Forward(const CodecContext& context, std::span<const float> in, std::span<float> kept,
               std::span<std::byte> side) const override;
  void Inverse(const CodecContext& context, std::span<const float> kept,
               std::span<const std::byte> side, std::span<float> out) const override;

 private:
  const char* kind() const { return choice_ == Choice::kGreatest ? "topk" : "randk"; }
  int64_t Kept(int64_t count) const;

  Choice choice_;
  double share_;
};

}  // namespace torus::parallel
