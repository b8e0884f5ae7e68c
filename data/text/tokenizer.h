// Tokenizer: converts text to token numbers and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/special_tokens.h"

namespace torus::data {

// Immutable after construction: any number of threads may use it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // "gpt2", "roberta", "json", "bytes", "chars".
  virtual const std::string& name() const = 0;
  // Token numbers lie in [0, vocabulary()).
  virtual int64_t vocabulary() const = 0;
  // Appends the tokens of `text` to `ids`. Special tokens in the text are not recognised: they are
  // plain text.
  virtual void Encode(std::string_view text, std::vector<int32_t>* ids) const = 0;
  // Like Encode, but recognises the special tokens that are written in the text.
  virtual void EncodeWithSpecials(std::string_view text, std::vector<int32_t>* ids) const {
    Encode(text, ids);
  }
  // Recognises only the special tokens of these texts, and the added words.
  virtual void EncodeWith(std::string_view text, const std::vector<std::string>& /*tokens*/,
                          std::vector<int32_t>* ids) const {
    Encode(text, ids);
  }
  // The tokens with which a text begins that stands alone, as a prompt does; often none.
  virtual std::vector<int32_t> beginning() const { return {}; }
  // The token that ends a text; -1 if there is none.
  virtual int32_t end_of_text() const { return -1; }
  // The tokens that Encode and EncodeWithSpecials find as they are written: Encode the added words,
  // EncodeWithSpecials these and the special tokens, `specials`.
  virtual const std::vector<SpecialToken>& words() const { return NoTokens(); }
  virtual const std::vector<SpecialToken>& specials() const { return NoTokens(); }
  // Returns the concatenated bytes of the tokens. Throws BadInput tagged with the name for a number
  // that is not a token.
  virtual std::string Decode(std::span<const int32_t> ids) const = 0;
  // The same of tokens that others stand before: keeps a space in front that Decode drops.
  virtual std::string DecodeNext(std::span<const int32_t> ids) const { return Decode(ids); }

  // The token numbers of a text, as the other Encode appends them.
  std::vector<int32_t> Encode(std::string_view text) const {
    std::vector<int32_t> ids;
    Encode(text, &ids);
    return ids;
  }

 private:
  static const std::vector<SpecialToken>& NoTokens() {
    static const std::vector<SpecialToken> none;
    return none;
  }
};

}  // namespace torus::data
