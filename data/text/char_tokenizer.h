// A tokenizer with one token per character; the alphabet comes from a text.
#pragma once

#include <unordered_map>

#include "data/text/tokenizer.h"

namespace torus::data {

// Token i is the i-th character (code point) of the alphabet, in ascending order, as in nanoGPT.
class CharTokenizer : public Tokenizer {
 public:
  // `alphabet`: UTF-8, each character once, ascending, at least one. Throws BadInput otherwise.
  explicit CharTokenizer(std::string alphabet);
  // Makes the tokenizer of the characters that occur in `text`. Throws BadInput naming `source` and
  // the offset if the text is not UTF-8, and if it is empty.
  static CharTokenizer Of(std::string_view text, const std::string& source);

  const std::string& name() const override;
  const std::string& alphabet() const { return alphabet_; }
  int64_t vocabulary() const override { return static_cast<int64_t>(characters_.size()); }
  using Tokenizer::Encode;
  // Throws BadInput naming the offset of a character that is not in the alphabet, or of invalid
  // UTF-8.
  void Encode(std::string_view text, std::vector<int32_t>* ids) const override;
  std::string Decode(std::span<const int32_t> ids) const override;

 private:
  std::string alphabet_;
  std::vector<std::string> characters_;  // [token]
  std::unordered_map<char32_t, int32_t> tokens_;
};

}  // namespace torus::data
