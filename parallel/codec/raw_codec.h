// The codec `none`: sends float32 unchanged.
#pragma once

#include "parallel/codec/codec.h"

namespace torus::parallel {

class RawCodec : public Codec {
 public:
  std::string name() const override { return "none"; }
  bool is_identity() const override { return true; }
  size_t MaxEncodedBytes(int64_t count) const override {
    return sizeof(float) * static_cast<size_t>(count);
  }
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override;
  void Decode(std::span<const std::byte> in, std::span<float> out) override;
};

}  // namespace torus::parallel
