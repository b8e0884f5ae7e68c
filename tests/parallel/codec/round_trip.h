// Codecs called with vectors.
#pragma once

#include <cctype>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"

namespace torus::parallel {

// A codec's text as a part of a test's name.
inline std::string CaseName(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) ? std::string(1, c) : std::string("_");
  return name;
}

// Exactly what was written; empty where nothing could be.
inline std::vector<std::byte> EncodeFlat(Codec& codec, std::span<const float> values) {
  std::vector<std::byte> bytes(codec.MaxEncodedBytes(static_cast<int64_t>(values.size())));
  bytes.resize(codec.Encode(values, bytes));
  return bytes;
}

inline std::vector<float> DecodeFlat(Codec& codec, std::span<const std::byte> bytes, size_t count) {
  std::vector<float> values(count);
  codec.Decode(bytes, values);
  return values;
}

inline std::vector<std::byte> EncodeIn(Codec& codec, const CodecContext& context,
                                       std::span<const float> values) {
  std::vector<std::byte> bytes(codec.MaxTensorBytes(context.shape));
  bytes.resize(codec.EncodeTensor(context, values, bytes));
  return bytes;
}

inline std::vector<float> DecodeIn(Codec& codec, const CodecContext& context,
                                   std::span<const std::byte> bytes) {
  std::vector<float> values(static_cast<size_t>(Numel(context.shape)));
  codec.DecodeTensor(context, bytes, values);
  return values;
}

inline std::vector<float> RoundTrip(Codec& codec, std::span<const float> values) {
  return DecodeFlat(codec, EncodeFlat(codec, values), values.size());
}

}  // namespace torus::parallel
