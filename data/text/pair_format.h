// Sentences and pairs of them as one row of tokens, the form that classifiers read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/text/bpe_tokenizer.h"

namespace torus::data {

// What stands around the texts: before, `between` (of a pair), after; and what fills a row up.
struct PairFormat {
  std::vector<int32_t> before, between, after;
  int32_t pad = 0;
};

//   roberta  <s> A </s>               <s> A </s> </s> B </s>                  filled with <pad>
//   gpt2     A <|endoftext|>          A <|endoftext|> B <|endoftext|>         filled with the same
// (GPT-2 has none of its own; the mask tells filling from text.) BadInput for another tokenizer.
PairFormat FormatOf(const BpeTokenizer& tokenizer);

// How many tokens to keep of a pair of `first` and `second` tokens so that `room` remain: from the
// end of the longer one until both are equal, then of both in turn. The same as `longest_first` of
// Hugging Face's tokenizers 0.23; of an odd rest the longer one, or else the second, keeps one
// more.
struct PairLengths {
  int64_t first = 0, second = 0;
  friend bool operator==(const PairLengths&, const PairLengths&) = default;
};
PairLengths TruncateLongestFirst(PairLengths lengths, int64_t room);

class PairEncoder {
 public:
  // Rows of at most `max_length` tokens. BadInput when that is no room for one token of each text.
  // `tokenizer` must outlive it.
  PairEncoder(const BpeTokenizer& tokenizer, int64_t max_length);

  int64_t max_length() const { return max_length_; }
  int32_t pad() const { return format_.pad; }
  struct Row {
    std::vector<int32_t> tokens;
    bool truncated = false;  // something of the text is missing
  };
  // The row of a text, or of a pair, truncated at the right, not filled up. Special tokens written
  // out in a text are recognised, as Hugging Face's tokenizers do.
  Row Encode(std::string_view first, std::optional<std::string_view> second = {}) const;

 private:
  const BpeTokenizer& tokenizer_;
  PairFormat format_;
  int64_t max_length_;
};

}  // namespace torus::data
