// Pruning: the share p of the values is kept, k = ceil(p n) of n, and all others become 0.
//
//   topk:p   those of greatest magnitude, of equal ones the earlier (Aji and Heafield, "Sparse
//            communication for distributed gradient descent", arXiv:1704.05021)
//   randk:p  a random choice, drawn anew for each tensor: from Philox's numbers of the context's
//            seed, stream, step and micro-batch. Values are not multiplied by 1 / p: error feedback
//            sends what is left later.
//
// Error: a value that is kept is exact, or has the error of the codec behind; of topk another is
// at most as great as the least that is kept.
//
// A value that is infinite or NaN: nothing is written (codec.h).
//
// Wire format: which values are kept, as index_set.h writes sets; the values in order of index.
#pragma once

#include "parallel/codec/transform.h"

namespace torus::parallel {

class Prune : public Transform {
 public:
  enum class Choice : uint8_t { kGreatest, kRandom };

  // BadInput unless 0 < share <= 1.
  Prune(Choice choice, double share);

  std::string name() const override;
  int64_t Values(const Shape& shape) const override;
  size_t SideBytes(const Shape& shape) const override;
  // BadInput for 2^32 values or more.
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
