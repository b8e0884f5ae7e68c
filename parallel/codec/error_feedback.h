// Error feedback around any codec, "ef(topk:0.1)" (Seide et al., "1-bit stochastic gradient
// descent", Interspeech 2014; Karimireddy et al., arXiv:1901.09847, algorithm 1): what the codec
// did not send of one tensor is added to the next before that is encoded.
//
// In training only, and where there is memory; else the codec alone. One residual for each link,
// direction and tensor, without the values' scale (CodecContext::scale); a smaller tensor uses the
// front of it. A tensor that cannot be encoded leaves the residual as it is, and so does a step
// that is not taken (CodecMemory::Settle).
//
// Of a codec whose tensors are summed as factors, a replica keeps what its own factors lack.
//
// Error: what was received so far sums to what was given so far but for the residual, which stays
// bounded where the codec's error is at most a share below 1 of what it is given.
//
// Wire format: the codec's.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"
#include "parallel/codec/factor_codec.h"

namespace torus::parallel {

class ErrorFeedback : public ContextCodec, private FactorCodec {
 public:
  // BadInput where the decoder of `inner` remembers: it decodes at one end alone.
  explicit ErrorFeedback(std::unique_ptr<Codec> inner);

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override { return inner_->MaxTensorBytes(shape); }
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;
  bool remembers() const override { return true; }
  const FactorCodec* factors() const override {
    return inner_->factors() != nullptr ? this : nullptr;
  }

 private:
  Sizes SizesOf(const Shape& shape) const override { return inner_->factors()->SizesOf(shape); }
  void MakeP(const CodecContext& context, std::span<float> values,
             std::span<float> p) const override;
  void MakeQ(const CodecContext& context, std::span<const float> values, std::span<float> p,
             std::span<float> q) const override;
  void Multiply(const CodecContext& context, std::span<const float> p, std::span<const float> q,
                std::span<float> values) const override;

  std::unique_ptr<Codec> inner_;
};

}  // namespace torus::parallel
