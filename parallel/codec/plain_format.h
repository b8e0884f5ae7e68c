// PlainFormat: the sizes of codecs whose bytes are a header and the same number of bits for each
// value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torus::parallel {

enum class PlainCodec : uint8_t { kUniform, kF16, kBF16, kE4M3, kE5M2, kDynamic8 };

struct PlainFormat {
  PlainCodec codec = PlainCodec::kF16;
  int bits = 0;       // uniform only
  int64_t block = 1;  // dynamic8 only

  int64_t Blocks(int64_t count) const { return (count + block - 1) / block; }
  // Bytes before the encoded values.
  size_t HeaderBytes(int64_t count) const {
    switch (codec) {
      case PlainCodec::kUniform:
        return 2 * sizeof(float);
      case PlainCodec::kE4M3:
      case PlainCodec::kE5M2:
        return sizeof(int32_t);
      case PlainCodec::kDynamic8:
        return sizeof(float) * static_cast<size_t>(Blocks(count));
      default:
        return 0;
    }
  }
  int BitsOfValue() const {
    if (codec == PlainCodec::kUniform) return bits;
    return codec == PlainCodec::kF16 || codec == PlainCodec::kBF16 ? 16 : 8;
  }
  size_t EncodedBytes(int64_t count) const {
    return HeaderBytes(count) + (static_cast<size_t>(count) * BitsOfValue() + 7) / 8;
  }
};

}  // namespace torus::parallel
