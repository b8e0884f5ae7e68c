// Transform: the first part of a composed codec, which leaves fewer or other values for the next
// part to encode ("topk:0.1+sortq:8"), and writes some bytes beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "parallel/codec/codec_context.h"

namespace torus::parallel {

class FactorCodec;

// Several threads may use one object. The sizes depend on the shape alone, and a smaller first
// dimension never makes them larger.
class Transform {
 public:
  virtual ~Transform() = default;
  virtual std::string name() const = 0;

  // How many values it leaves, and how many bytes it writes beside them.
  virtual int64_t Values(const Shape& shape) const = 0;
  virtual size_t SideBytes(const Shape& shape) const = 0;

  // Returns false if a value, or one that it would leave, is infinite or NaN.
  virtual bool Forward(const CodecContext& context, std::span<const float> in,
                       std::span<float> kept, std::span<std::byte> side) const = 0;
  // Throws BadInput if Forward cannot have written `side`.
  virtual void Inverse(const CodecContext& context, std::span<const float> kept,
                       std::span<const std::byte> side, std::span<float> out) const = 0;
  // As Codec's.
  virtual bool is_stateful() const { return false; }
  // As Codec's, if the values that it leaves are sent unencoded.
  virtual const FactorCodec* factors() const { return nullptr; }
};

}  // namespace torus::parallel
