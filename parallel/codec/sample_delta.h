// SampleDelta: encodes the change of each sample's activations since its last visit,
// "delta(uniform:4)" (Wang et al., "Fine-tuning language models over slow networks using activation
// compression with guarantees", AQ-SGD, arXiv:2206.01299, algorithm 1). Both ends remember what the
// receiver has of each sample, and the codec encodes the difference to it. A sample's first visit
// is sent uncompressed.
//
// The rows are the context's samples. Without sample numbers, without memory, and outside of
// training, all rows are sent uncompressed and nothing is remembered. A row whose size differs from
// the remembered one is also sent uncompressed. Each end stores as many values as all samples have
// at this cut, in memory or in a file (sample_store.h). If a tensor has several rows of one sample,
// each is a difference to the same remembered row, and the last one is remembered.
//
// Error: the codec's, for the difference; the first visit is exact.
//
// Nothing is written if a value is infinite or NaN, or the codec writes nothing (codec.h).
//
// Wire format: a bit for each row, 1 if its difference is sent, lowest bit first, padded to whole
// bytes; the other rows as float32; then the encoded differences, if there are any.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"

namespace torus::parallel {

class SampleDelta : public ContextCodec {
 public:
  // Throws BadInput if `inner` is stateful.
  explicit SampleDelta(std::unique_ptr<Codec> inner);

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override;
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  // Also throws BadInput if it gets the difference of a sample that it does not remember.
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;
  size_t EncodeAndDecode(const CodecContext& context, std::span<const float> in,
                         std::span<std::byte> out, std::span<float> decoded) override;
  bool is_stateful() const override { return true; }
  bool decodes_from_memory() const override { return true; }

 private:
  std::unique_ptr<Codec> inner_;
};

}  // namespace torus::parallel
