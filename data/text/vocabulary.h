// The vocabulary of a byte-level BPE: the number of each token.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/merges.h"
#include "data/text/special_tokens.h"

namespace torus::data {

// Token strings and their numbers, as in vocab.json (encoder.json).
using TokenNumbers = std::map<std::string, int32_t, std::less<>>;

// Throws BadInput naming `path` unless the numbers are 0 to n - 1, each once.
void CheckNumbers(const TokenNumbers& numbers, const std::string& path);

// Parses a JSON object {"token": number}. Throws BadInput naming `path` unless it is one, in UTF-8,
// without duplicate tokens.
TokenNumbers ParseTokenNumbers(std::string_view text, const std::string& path);
// Also CheckNumbers.
TokenNumbers ParseVocabularyJson(std::string_view text, const std::string& path);

// Parses dict.txt, in which fairseq renumbers GPT-2's tokens by frequency. Each line is "GPT-2's
// number or a word of fairseq's, space, count". The numbers are <s> 0, <pad> 1, </s> 2, <unk> 3,
// then the lines in order, then <mask>. Throws BadInput naming `path` and the line if it has
// another form, or a number that is not in `gpt2`.
TokenNumbers ParseFairseqDictionary(std::string_view text, const std::string& path,
                                    const TokenNumbers& gpt2);

class Vocabulary {
 public:
  // Throws BadInput naming `path` unless `tokens` has a number for every byte and for every string
  // of the merges. Of the others, those that are `added` represent their own text ("<s>"), as do
  // those that have characters which are no byte symbols (byte_symbols.h).
  Vocabulary(const TokenNumbers& tokens, const Merges& merges, const std::string& path,
             const std::vector<SpecialToken>& added = {});

  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  int32_t NumberOf(Symbol symbol) const { return numbers_[symbol]; }
  // The number of a token that no merge takes or makes; none if there is no such token.
  std::optional<int32_t> NumberOfOther(std::string_view token) const;
  // The bytes that a token in [0, size()) represents.
  const std::string& BytesOf(int32_t number) const { return bytes_[number]; }

 private:
  std::vector<int32_t> numbers_;    // [symbol]
  std::vector<std::string> bytes_;  // [number]
  TokenNumbers others_;
};

}  // namespace torus::data
