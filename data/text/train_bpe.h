// Trains a byte-level BPE for texts (Sennrich, Haddow, Birch, "Neural machine translation of rare
// words with subword units", 2016, algorithm 1), as Hugging Face's tokenizers 0.23 do with
// ByteLevel and BpeTrainer(min_frequency=2).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torus::data {

// How often each piece (Gpt2Pattern) occurs in the texts.
class PieceCounts {
 public:
  // Adds a text. Bytes that are not UTF-8 are pieces as of BpeTokenizer.
  void Add(std::string_view text);
  const std::map<std::string, int64_t, std::less<>>& counts() const { return counts_; }

 private:
  std::map<std::string, int64_t, std::less<>> counts_;
};

// The two strings of bytes that a merge joins.
using TrainedMerge = std::pair<std::string, std::string>;

// Joins the most frequent pair of neighbours within pieces until that has made `most` new strings,
// or no pair occurs twice. Of equally frequent pairs it takes the one whose first string, then
// whose second, is older: bytes in the order of their symbols (byte_symbols.h), then merges in
// their order.
std::vector<TrainedMerge> TrainMerges(const PieceCounts& pieces, int64_t most);

// The files of a GPT-2 tokenizer (OpenGpt2), as name -> content: the bytes have numbers from 0 in
// the order above, then come the merges and <|endoftext|>.
std::map<std::string, std::string> BpeFiles(const std::vector<TrainedMerge>& merges);

}  // namespace torus::data
