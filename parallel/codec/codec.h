// Codec: encodes float32 values to fewer bytes and decodes them, for activations and gradients that
// cross a link between stages.
//
// A codec works on spans, independently of transports and tensors. The maximum number of bytes that
// it writes follows from the number of values, so receive buffers can be allocated before step 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "parallel/codec/codec_context.h"
#include "runtime/dtype.h"
#include "runtime/error.h"

namespace torus::parallel {

class FactorCodec;
class GpuCodec;

// Several threads (ranks) may use one object at once: each call has its own scratch memory and runs
// on the calling thread's team. The same input gives the same bytes for any team size.
class Codec {
 public:
  virtual ~Codec() = default;

  // As MakeCodec accepts it: "sortq:8".
  virtual std::string name() const = 0;

  // True if the encoded bytes are the input's bytes (`none`): a sender may then send its buffer
  // directly.
  virtual bool is_identity() const { return false; }

  // The most bytes that Encode writes for `count` values. Sort quantization always writes exactly
  // this many.
  virtual size_t MaxEncodedBytes(int64_t count) const = 0;

  // Encodes `in` to the front of `out` and returns the number of bytes written, at least one if
  // there are values. Returns 0 if a value is infinite or NaN and the codec cannot represent that.
  // Then there is nothing to decode: the receiver sets every value of the tensor to NaN, and all
  // ranks skip the training step. Throws BadInput if `out` is smaller than
  // MaxEncodedBytes(in.size()).
  virtual size_t Encode(std::span<const float> in, std::span<std::byte> out) = 0;

  // Decodes the bytes that Encode wrote: `in` has exactly the size that Encode returned, `out` the
  // number of values that it was given. Throws BadInput if the two do not match.
  virtual void Decode(std::span<const std::byte> in, std::span<float> out) = 0;

  // The same three for a tensor with context. Codecs that work per sample or channel, draw random
  // numbers or keep memory override these. Both ends of a link give equal contexts, each with its
  // own memory, for the same tensors in the same order. A smaller first dimension never needs more
  // bytes.
  virtual size_t MaxTensorBytes(const Shape& shape) const { return MaxEncodedBytes(Numel(shape)); }
  // As Encode, of a tensor of context.shape.
  virtual size_t EncodeTensor(const CodecContext& /*context*/, std::span<const float> in,
                              std::span<std::byte> out) {
    return Encode(in, out);
  }
  // As Decode, of a tensor of context.shape.
  virtual void DecodeTensor(const CodecContext& /*context*/, std::span<const std::byte> in,
                            std::span<float> out) {
    Decode(in, out);
  }
  // Encodes as EncodeTensor does, and writes what the receiver will decode to `decoded`, which has
  // the size of `in`, unless nothing could be encoded. A codec that decodes from memory overrides
  // this, since DecodeTensor may only be called at the receiving end.
  virtual size_t EncodeAndDecode(const CodecContext& context, std::span<const float> in,
                                 std::span<std::byte> out, std::span<float> decoded) {
    TORUS_CHECK(!decodes_from_memory(), "{} must override EncodeAndDecode", name());
    const size_t bytes = EncodeTensor(context, in, out);
    if (bytes > 0) DecodeTensor(context, out.first(bytes), decoded);
    return bytes;
  }
  // Whether it stores anything in CodecContext::memory.
  virtual bool is_stateful() const { return false; }
  // Whether the decoder's result depends on its memory.
  virtual bool decodes_from_memory() const { return false; }
  // How replicas sum tensors without decoding each other's bytes (factor_codec.h); lives as long as
  // the codec. Null: they decode the bytes of all replicas.
  virtual const FactorCodec* factors() const { return nullptr; }

  // The same codec for values in GPU memory (gpu_codec.h); lives as long as the codec. Null if the
  // codec has no GPU kernels or the build has none at all: such values are copied to the CPU.
  virtual const GpuCodec* on_gpu() const { return nullptr; }
};

// Encodes as EncodeTensor does. Throws BadInput, with the codec's name, if it says that it wrote
// more bytes than its MaxTensorBytes, which is what `out` has at least: a receiver has no more
// room.
inline size_t EncodeWithin(Codec& codec, const CodecContext& context, std::span<const float> in,
                           std::span<std::byte> out) {
  const size_t bytes = codec.EncodeTensor(context, in, out);
  Require(bytes <= out.size(), "codec",
          "{} wrote {} bytes for a tensor of {}, for which its MaxTensorBytes says {}",
          codec.name(), bytes, context.shape, codec.MaxTensorBytes(context.shape));
  return bytes;
}

// A codec that uses the context. Values without a shape are a vector, whose samples are single
// values.
class ContextCodec : public Codec {
 public:
  size_t MaxEncodedBytes(int64_t count) const override { return MaxTensorBytes(Shape{count}); }
  size_t MaxTensorBytes(const Shape& shape) const override = 0;
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override {
    return EncodeTensor(CodecContext::Flat(static_cast<int64_t>(in.size())), in, out);
  }
  // What a codec of contexts implements.
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override = 0;
  void Decode(std::span<const std::byte> in, std::span<float> out) override {
    DecodeTensor(CodecContext::Flat(static_cast<int64_t>(out.size())), in, out);
  }
  // What a codec of contexts implements.
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override = 0;
};

// Whether `codec` (null: none) encodes tensors of that dtype: f32, and bf16 and f16 converted to
// f32.
inline bool Encodes(const Codec* codec, DType dtype) {
  return codec != nullptr && !codec->is_identity() && (dtype == DType::kF32 || IsLow(dtype));
}

}  // namespace torus::parallel
