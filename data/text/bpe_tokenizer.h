// Byte-level BPE, the tokenizer of GPT-2 and RoBERTa. It gives the same token numbers as the
// references (Hugging Face's tokenizers 0.23, OpenAI's tiktoken) for text of Unicode 14.
//
//   text -> pieces (Gpt2Pattern) -> symbols (Merges) -> numbers (Vocabulary)
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "data/text/gpt2_pattern.h"
#include "data/text/merges.h"
#include "data/text/special_tokens.h"
#include "data/text/tokenizer.h"
#include "data/text/vocabulary.h"
#include "data/text/word_cache.h"

namespace torus::data {

// Bytes that are not UTF-8 are kept: each longest run of them is a separate piece, and the text
// before it is split as if it ended there. So Decode(Encode(x)) == x for any bytes x.
class BpeTokenizer : public Tokenizer {
 public:
  struct Parts {
    std::string name;  // "gpt2"
    Merges merges;
    Vocabulary vocabulary;
    std::vector<SpecialToken> specials;  // and the words that were added
    // Each text, and each part of it between special tokens, gets a space in front unless it has
    // one.
    bool prefix_space = false;
    NumberCut numbers = NumberCut::kAsWords;
    // Pieces, as bytes, that are one token whatever the merges make ("ignore_merges").
    TokenNumbers whole_pieces = {};
    std::vector<int32_t> beginning = {};  // as Tokenizer::beginning
    int32_t end_of_text = -1;             // as Tokenizer::end_of_text
  };
  explicit BpeTokenizer(Parts parts);

  const std::string& name() const override { return parts_.name; }
  int64_t vocabulary() const override { return parts_.vocabulary.size(); }
  const std::vector<SpecialToken>& words() const override { return words_; }
  const std::vector<SpecialToken>& specials() const override { return parts_.specials; }
  std::vector<int32_t> beginning() const override { return parts_.beginning; }
  int32_t end_of_text() const override { return parts_.end_of_text; }
  // The number of a special token. Throws BadInput if there is none of that name.
  int32_t Special(std::string_view text) const;

  using Tokenizer::Encode;
  // Added words are one token; special tokens are plain text, and so is what they cover.
  void Encode(std::string_view text, std::vector<int32_t>* ids) const override;
  // Like Encode, but recognises special tokens written in the text (CutAtSpecials), as Hugging
  // Face's tokenizers do by default. Do not use it for untrusted text.
  void EncodeWithSpecials(std::string_view text, std::vector<int32_t>* ids) const override;
  void EncodeWith(std::string_view text, const std::vector<std::string>& tokens,
                  std::vector<int32_t>* ids) const override;
  std::string Decode(std::span<const int32_t> ids) const override;

 private:
  // The state of one call. `cache` is null if another thread is using the cache.
  struct Work {
    std::vector<int32_t>* ids;
    WordCache* cache;
    std::vector<Symbol> symbols;
  };

  void EncodeBetween(std::string_view text, const TokenFilter& recognised,
                     std::vector<int32_t>* ids) const;
  void EncodePart(std::string_view text, Work* work) const;
  void EncodePlain(std::string_view text, Work* work) const;
  void EncodePiece(std::string_view piece, Work* work) const;

  Parts parts_;
  std::vector<SpecialToken> words_;  // of the specials those that are not special
  Gpt2Pattern pattern_;
  mutable std::mutex cache_mutex_;
  mutable WordCache cache_;
};

}  // namespace torus::data
