// A tokenizer with one token per byte.
#pragma once

#include "data/text/tokenizer.h"

namespace torus::data {

// Tokens 0 to 255 are the bytes. Decoding restores any bytes exactly.
class ByteTokenizer : public Tokenizer {
 public:
  const std::string& name() const override;
  int64_t vocabulary() const override { return 256; }
  using Tokenizer::Encode;
  void Encode(std::string_view text, std::vector<int32_t>* ids) const override;
  std::string Decode(std::span<const int32_t> ids) const override;
};

}  // namespace torus::data
