// Codec: float32 values to fewer bytes and back, for the activations and gradients that cross a
// link between stages.
//
// A codec knows nothing of transports or tensors: it turns one span into another. The most bytes
// that it writes follow from the number of values, so receive buffers can be allocated before step
// 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "parallel/codec/codec_context.h"
#include "runtime/dtype.h"

namespace torus::parallel {

class FactorCodec;
class GpuCodec;

// One object may be used by several threads (ranks) at once: scratch belongs to the call, which
// also uses the calling thread's team. The same input gives the same bytes whatever the team size.
class Codec {
 public:
  virtual ~Codec() = default;

  // As MakeCodec takes it: "sortq:8".
  virtual std::string name() const = 0;

  // True when the encoded bytes are the input's own (`none`): a sender may post its buffer as it
  // is.
  virtual bool is_identity() const { return false; }

  // The most that Encode writes for `count` values. Sort quantization always writes exactly this.
  virtual size_t MaxEncodedBytes(int64_t count) const = 0;

  // Writes `in` to the front of `out` and returns the exact number of bytes written, at least one
  // where there are values. 0 instead when a value is infinite or NaN and the codec cannot carry
  // that: then there is nothing to decode, the receiver takes every value of the tensor for NaN,
  // and the training step is skipped on all ranks. BadInput when `out` is smaller than
  // MaxEncodedBytes(in.size()).
  virtual size_t Encode(std::span<const float> in, std::span<std::byte> out) = 0;

  // Restores values from the bytes that Encode wrote: `in` of exactly the size that it returned,
  // `out` of the count it was given. BadInput when they do not fit each other.
  virtual void Decode(std::span<const std::byte> in, std::span<float> out) = 0;

  // The same three for a tensor of which more is known: codecs that cut by sample or channel, draw
  // random numbers or remember override these. Both ends of a link give equal contexts, each with
  // its own memory, for the same tensors in the same order. A smaller first dimension never needs
  // more bytes.
  virtual size_t MaxTensorBytes(const Shape& shape) const { return MaxEncodedBytes(Numel(shape)); }
  virtual size_t EncodeTensor(const CodecContext& /*context*/, std::span<const float> in,
                              std::span<std::byte> out) {
    return Encode(in, out);
  }
  virtual void DecodeTensor(const CodecContext& /*context*/, std::span<const std::byte> in,
                            std::span<float> out) {
    Decode(in, out);
  }
  // Whether it keeps CodecContext::memory.
  virtual bool remembers() const { return false; }
  // Whether the decoder's memory decides what comes out.
  virtual bool decodes_from_memory() const { return false; }
  // How replicas sum tensors through it without decoding each other's bytes (factor_codec.h); lives
  // as long as the codec. Null: only by decoding those of all.
  virtual const FactorCodec* factors() const { return nullptr; }

  // The same for values that lie on a GPU (gpu_codec.h); lives as long as the codec. Null: the
  // codec has no kernels for GPUs, or the build has none at all, and such values are copied to the
  // CPU.
  virtual const GpuCodec* on_gpu() const { return nullptr; }
};

// A codec whose work depends on the context; values of no shape are one row.
class ContextCodec : public Codec {
 public:
  size_t MaxEncodedBytes(int64_t count) const override { return MaxTensorBytes(Shape{count}); }
  size_t MaxTensorBytes(const Shape& shape) const override = 0;
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override {
    return EncodeTensor(CodecContext::Flat(static_cast<int64_t>(in.size())), in, out);
  }
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override = 0;
  void Decode(std::span<const std::byte> in, std::span<float> out) override {
    DecodeTensor(CodecContext::Flat(static_cast<int64_t>(out.size())), in, out);
  }
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override = 0;
};

// Whether tensors of that type are encoded by `codec` (null: none): f32, and bf16 and f16 as the
// f32 of their values.
inline bool Encodes(const Codec* codec, DType dtype) {
  return codec != nullptr && !codec->is_identity() && (dtype == DType::kF32 || IsLow(dtype));
}

}  // namespace torus::parallel
