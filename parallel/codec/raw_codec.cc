#include "parallel/codec/raw_codec.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus::parallel {

size_t RawCodec::Encode(std::span<const float> in, std::span<std::byte> out) {
  Require(out.size() >= in.size_bytes(), "none", "{} values need {} bytes, got room for {}",
          in.size(), in.size_bytes(), out.size());
  std::ranges::copy(std::as_bytes(in), out.begin());
  return in.size_bytes();
}

void RawCodec::Decode(std::span<const std::byte> in, std::span<float> out) {
  Require(in.size() == out.size_bytes(), "none", "{} values are {} bytes, got {}", out.size(),
          out.size_bytes(), in.size());
  std::ranges::copy(in, std::as_writable_bytes(out).begin());
}

}  // namespace torus::parallel
