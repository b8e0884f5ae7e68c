// A sentence or a pair of sentences as one row of tokens, the input of a text classifier.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/text/bpe_tokenizer.h"

namespace torus::data {

// The tokens that a row adds to its texts: `before` the first text, `between` the two of a pair,
// `after` the last. `pad` fills shorter rows of a batch up to the longest.
struct PairFormat {
  std::vector<int32_t> before, between, after;
  int32_t pad = 0;
};

// The format of a model's rows, chosen by its tokenizer, for a single text A and for a pair A, B:
//   roberta  <s> A </s>        <s> A </s> </s> B </s>           padded with <pad>
//   gpt2     A <|endoftext|>   A <|endoftext|> B <|endoftext|>  padded with <|endoftext|>
// (GPT-2 has no padding token; the mask tells which tokens are padding.) Throws BadInput for
// another tokenizer.
PairFormat FormatOf(const BpeTokenizer& tokenizer);

// How many tokens each text of a pair keeps so that both together have at most `room`. Tokens are
// removed from the end of the longer text until both are equally long, then from both in turn. If
// `room` is odd then, the originally longer text keeps one more, or the second if they were equal.
// This is `longest_first` of Hugging Face's tokenizers 0.23.
struct PairLengths {
  int64_t first = 0, second = 0;
  friend bool operator==(const PairLengths&, const PairLengths&) = default;
};
PairLengths TruncateLongestFirst(PairLengths lengths, int64_t room);

class PairEncoder {
 public:
  // Makes rows of at most `max_length` tokens. Throws BadInput if one token of each text would not
  // fit. `tokenizer` must outlive it.
  PairEncoder(const BpeTokenizer& tokenizer, int64_t max_length);

  int64_t max_length() const { return max_length_; }
  int32_t pad() const { return format_.pad; }
  struct Row {
    std::vector<int32_t> tokens;
    bool truncated = false;  // part of the text was removed
  };
  // Encodes a text or a pair, truncated at the ends of the texts, without padding. Special tokens
  // written in a text ("</s>") are recognised, as in Hugging Face's tokenizers.
  Row Encode(std::string_view first, std::optional<std::string_view> second = {}) const;

 private:
  const BpeTokenizer& tokenizer_;
  PairFormat format_;
  int64_t max_length_;
};

}  // namespace torus::data
