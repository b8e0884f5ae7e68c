// The vocabulary of a byte-level BPE: which number each token has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/merges.h"

namespace torus::data {

// Token strings to numbers, as vocab.json (encoder.json) has them.
using TokenNumbers = std::map<std::string, int32_t, std::less<>>;

// Reads a JSON object {"token": number}. BadInput naming `path` unless it is one, UTF-8, with no
// token twice, and the numbers are 0 to n - 1, each once.
TokenNumbers ParseVocabularyJson(std::string_view text, const std::string& path);

// fairseq numbers the tokens of GPT-2 anew, by frequency: dict.txt has lines "GPT-2's number or a
// word of its own, space, count". <s> 0, <pad> 1, </s> 2, <unk> 3, then the lines, last <mask>.
// BadInput naming `path` and the line where it has another form, or a number that `gpt2` lacks.
TokenNumbers ParseFairseqDictionary(std::string_view text, const std::string& path,
                                    const TokenNumbers& gpt2);

class Vocabulary {
 public:
  // BadInput naming `path` unless `tokens` has a number for every byte and for what every merge
  // makes. Tokens that no merge makes ("<s>") stand for their own text.
  Vocabulary(const TokenNumbers& tokens, const Merges& merges, const std::string& path);

  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  int32_t NumberOf(Symbol symbol) const { return numbers_[symbol]; }
  // Of a token that no merge makes; none where there is none of that name.
  std::optional<int32_t> NumberOfOther(std::string_view token) const;
  // The bytes that a token of [0, size()) stands for.
  const std::string& BytesOf(int32_t number) const { return bytes_[number]; }

 private:
  std::vector<int32_t> numbers_;    // [symbol]
  std::vector<std::string> bytes_;  // [number]
  TokenNumbers others_;
};

}  // namespace torus::data
