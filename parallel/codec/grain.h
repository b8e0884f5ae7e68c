// GrainCodec: encodes each part of a tensor by itself: "sortq:8/sample", "uniform:4/channel",
// "uniform:8/chunk:4096".
//
//   sample    each index of the first dimension
//   channel   each index of the last one (images are (N, H, W, C)); a tensor of one dimension is
//             one channel
//   chunk:n   n consecutive values; the last chunk may be smaller
//
// Error: the codec's, for each part.
//
// Wire format, little-endian: a byte, 0 if every part has the most bytes that the codec writes for
// it; otherwise 1 and the size of each part, 4 bytes unsigned. Then the parts in order.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"

namespace torus::parallel {

struct Grain {
  enum class Kind : uint8_t { kSample, kChannel, kChunk };
  Kind kind = Kind::kSample;
  int64_t chunk = 0;

  // Parses "sample", "channel" or "chunk:n". Throws BadInput for anything else.
  static Grain Parse(const std::string& text);
};

class GrainCodec : public ContextCodec {
 public:
  // Throws BadInput if `inner` is stateful: such codecs must be outside ("ef(uniform:4/channel)").
  GrainCodec(std::unique_ptr<Codec> inner, Grain grain);

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override;
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;

 private:
  struct Parts;
  Parts PartsOf(const Shape& shape) const;

  std::unique_ptr<Codec> inner_;
  Grain grain_;
};

}  // namespace torus::parallel
