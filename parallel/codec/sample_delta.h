// The change of each sample's activations since its last visit, "delta(uniform:4)" (Wang et al.,
// "Fine-tuning language models over slow networks using activation compression with guarantees",
// AQ-SGD, arXiv:2206.01299, algorithm 1): both ends keep what the receiver has of each sample, and
// the codec encodes the difference to that. A sample's first visit goes uncompressed.
//
// Rows are samples: those of the context. Without sample numbers, without memory, and outside of
// training, all rows go uncompressed and nothing is remembered; so do they where a row has another
// size than before. Each end keeps as many values as all samples have at this cut, in the memory
// or in a file (sample_store.h). Rows of one sample in one tensor are differences to the same
// remembered one; the last of them is remembered.
//
// Error: the codec's, of the difference; the first visit is exact.
//
// Nothing is written where a value is infinite or NaN, or the codec writes nothing (codec.h).
//
// Wire format: a bit for each row, 1 where its difference is sent, lowest first, in whole bytes;
// the other rows as float32; what the codec makes of the differences, if there are any.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"

namespace torus::parallel {

class SampleDelta : public ContextCodec {
 public:
  // BadInput where `inner` remembers.
  explicit SampleDelta(std::unique_ptr<Codec> inner);

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override;
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  // BadInput also where the difference of a sample comes that was never received.
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;
  bool remembers() const override { return true; }
  bool decodes_from_memory() const override { return true; }

 private:
  std::unique_ptr<Codec> inner_;
};

}  // namespace torus::parallel
