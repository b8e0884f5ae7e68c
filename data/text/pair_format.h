// A sentence, or a pair of sentences, as one row of tokens: the form in which a text classifier
// reads its input.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/text/bpe_tokenizer.h"

namespace torus::data {

// The tokens that a row has beside its texts: `before` the first, `between` the two of a pair,
// `after` the last; and the padding token, which makes shorter rows of a batch as long as the
// longest.
struct PairFormat {
  std::vector<int32_t> before, between, after;
  int32_t pad = 0;
};

// The format of a model's rows, by its tokenizer, for a text A and a pair A, B:
//   roberta  <s> A </s>        <s> A </s> </s> B </s>           padded with <pad>
//   gpt2     A <|endoftext|>   A <|endoftext|> B <|endoftext|>  padded with <|endoftext|>
// (GPT-2 has no padding token of its own; the mask says which tokens are padding.) BadInput for
// another tokenizer.
PairFormat FormatOf(const BpeTokenizer& tokenizer);

// How many tokens each text of a pair keeps so that both together have at most `room`. Tokens are
// cut from the end of the longer text until both are equally long, then from both in turn; where
// `room` is odd then, the text that was longer keeps one more, or the second where none was. This
// is `longest_first` of Hugging Face's tokenizers 0.23.
struct PairLengths {
  int64_t first = 0, second = 0;
  friend bool operator==(const PairLengths&, const PairLengths&) = default;
};
PairLengths TruncateLongestFirst(PairLengths lengths, int64_t room);

class PairEncoder {
 public:
  // Rows of at most `max_length` tokens. BadInput where one token of each text would not fit.
  // `tokenizer` must outlive it.
  PairEncoder(const BpeTokenizer& tokenizer, int64_t max_length);

  int64_t max_length() const { return max_length_; }
  int32_t pad() const { return format_.pad; }
  struct Row {
    std::vector<int32_t> tokens;
    bool truncated = false;  // something of the text is missing
  };
  // The row of a text, or of a pair, truncated at the ends of the texts, without padding. Special
  // tokens written out in a text ("</s>") are read as such, as Hugging Face's tokenizers do.
  Row Encode(std::string_view first, std::optional<std::string_view> second = {}) const;

 private:
  const BpeTokenizer& tokenizer_;
  PairFormat format_;
  int64_t max_length_;
};

}  // namespace torus::data
