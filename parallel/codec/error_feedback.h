// ErrorFeedback: error feedback around any codec, "ef(topk:0.1)" (Seide et al., "1-bit stochastic
// gradient descent", Interspeech 2014; Karimireddy et al., arXiv:1901.09847, algorithm 1). The
// residual, what the codec did not send of one tensor, is added to the next before it is encoded.
//
// It is active only in training and with memory; otherwise the codec works alone. There is one
// residual for each link, direction and tensor, stored without the values' scale
// (CodecContext::scale). A smaller tensor uses the front of it. The residual does not change if a
// tensor cannot be encoded or a step is not taken (CodecMemory::Settle).
//
// If replicas sum tensors as factors (factor_codec.h), each keeps what its own factors miss.
//
// Error: the sum of all received tensors is the sum of all given ones minus the residual. The
// residual stays bounded if the codec's error is at most a fraction below 1 of its input.
//
// Wire format: the codec's.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"
#include "parallel/codec/factor_codec.h"

namespace torus::parallel {

class ErrorFeedback : public ContextCodec, private FactorCodec {
 public:
  explicit ErrorFeedback(std::unique_ptr<Codec> inner) : inner_(std::move(inner)) {}

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override { return inner_->MaxTensorBytes(shape); }
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;
  size_t EncodeAndDecode(const CodecContext& context, std::span<const float> in,
                         std::span<std::byte> out, std::span<float> decoded) override;
  bool is_stateful() const override { return true; }
  bool decodes_from_memory() const override { return inner_->decodes_from_memory(); }
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
