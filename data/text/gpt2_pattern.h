// The first step of GPT-2's and RoBERTa's tokenizer: a regular expression splits the text into
// pieces (roughly words, each with the space before it). Byte-pair merges are then applied within
// each piece.
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// (the code published with Radford et al., "Language models are unsupervised multitask learners",
// 2019). It is run by PCRE2, whose Unicode tables define what a letter is (10.42: Unicode 14). \s
// stands for Unicode's white space, as in the reference; PCRE2's own \s would also match U+180E.
#pragma once

#include <memory>
#include <string_view>

namespace torus::data {

// The compiled expression; compiled to machine code if the system allows PCRE2 to. Thread-safe.
class Gpt2Pattern {
 public:
  Gpt2Pattern();
  ~Gpt2Pattern();
  Gpt2Pattern(const Gpt2Pattern&) = delete;
  Gpt2Pattern& operator=(const Gpt2Pattern&) = delete;

  // Yields the pieces of one text in order; concatenated, they are the text. Use it from one thread
  // only.
  class Scanner {
   public:
    // `text` must be UTF-8 (ValidUtf8Prefix). It and the pattern must outlive the scanner.
    Scanner(const Gpt2Pattern& pattern, std::string_view text);
    ~Scanner();
    Scanner(const Scanner&) = delete;
    Scanner& operator=(const Scanner&) = delete;

    // Sets `piece` to the next piece, which is never empty; returns false after the last.
    bool Next(std::string_view* piece);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace torus::data
