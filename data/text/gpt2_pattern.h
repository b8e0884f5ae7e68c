// The first step of GPT-2's and RoBERTa's tokenizer: a regular expression splits the text into
// pieces (roughly words, each with the space before it). Byte-pair merges are then applied within
// each piece.
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// (the code published with Radford et al., "Language models are unsupervised multitask learners",
// 2019). \s stands for Unicode's white space, as in the reference; PCRE2's own \s would also match
// U+180E.
#pragma once

#include <string_view>

#include "data/text/pattern.h"

namespace torus::data {

// How numbers (\p{N}) are cut: as the expression does; or a text is cut before and behind each run
// of them, or each of them, before the expression cuts what lies between (the pre-tokenizer Digits
// of Hugging Face's tokenizers). Or another expression cuts the text, Llama 3's, which cuts numbers
// after every third digit:
//
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
//   \s*[\r\n]+|\s+(?!\S)|\s+
enum class NumberCut { kAsWords, kRuns, kSingly, kInThrees };

// Llama 3's expression, as tokenizer.json has it.
inline constexpr std::string_view kLlama3Expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The compiled expression. Thread-safe.
class Gpt2Pattern {
 public:
  explicit Gpt2Pattern(NumberCut numbers = NumberCut::kAsWords);

  // Yields the pieces of one text in order; concatenated, they are the text. Use it from one thread
  // only.
  class Scanner {
   public:
    // `text` must be UTF-8 (ValidUtf8Prefix). It and the pattern must outlive the scanner.
    Scanner(const Gpt2Pattern& pattern, std::string_view text);

    // Sets `piece` to the next piece, which is never empty; returns false after the last.
    bool Next(std::string_view* piece);

   private:
    Pattern::Matcher matcher_;
    const std::string_view text_;
    size_t at_ = 0;
  };

 private:
  const Pattern pattern_;
};

}  // namespace torus::data
