// ChainCodec: a transform followed by a codec for the values that it leaves: "topk:0.1+sortq:8". If
// the codec is `none`, these values are sent as float32, and the name is the transform's alone.
//
// Wire format: the transform's side bytes, then the encoded values.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"
#include "parallel/codec/factor_codec.h"
#include "parallel/codec/transform.h"

namespace torus::parallel {

class ChainCodec : public ContextCodec, private FactorCodec {
 public:
  ChainCodec(std::unique_ptr<Transform> transform, std::unique_ptr<Codec> rest)
      : transform_(std::move(transform)), rest_(std::move(rest)) {}

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override;
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;
  size_t EncodeAndDecode(const CodecContext& context, std::span<const float> in,
                         std::span<std::byte> out, std::span<float> decoded) override;
  bool is_stateful() const override { return transform_->is_stateful() || rest_->is_stateful(); }
  bool decodes_from_memory() const override { return rest_->decodes_from_memory(); }
  // The transform's, if the codec is `none`.
  const FactorCodec* factors() const override {
    return rest_->is_identity() && transform_->factors() != nullptr ? this : nullptr;
  }

 private:
  // Encodes what the transform leaves in `kept` by `encode`, a function of the rest's context, of
  // those values and of the bytes behind the transform's.
  template <class Function>
  size_t EncodeKept(const CodecContext& context, std::span<const float> in,
                    std::span<std::byte> out, std::span<float> kept, Function&& encode);
  Sizes SizesOf(const Shape& shape) const override;
  void MakeP(const CodecContext& context, std::span<float> values,
             std::span<float> p) const override;
  void MakeQ(const CodecContext& context, std::span<const float> values, std::span<float> p,
             std::span<float> q) const override;
  void Multiply(const CodecContext& context, std::span<const float> p, std::span<const float> q,
                std::span<float> values) const override;

  std::unique_ptr<Transform> transform_;
  std::unique_ptr<Codec> rest_;
};

}  // namespace torus::parallel
