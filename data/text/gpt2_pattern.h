// The regular expression that GPT-2 and RoBERTa cut text by, before any merge: a merge never
// crosses a cut.
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// (the code published with Radford et al., "Language models are unsupervised multitask learners",
// 2019). Run by PCRE2, whose Unicode tables decide what a letter is (10.42: Unicode 14). The white
// space is that of Unicode, as the reference has it; PCRE2's own \s takes U+180E besides.
#pragma once

#include <memory>
#include <string_view>

namespace torus::data {

// Compiled once, by PCRE2's just-in-time compiler where the system lets it. Any number of threads
// may use it.
class Gpt2Pattern {
 public:
  Gpt2Pattern();
  ~Gpt2Pattern();
  Gpt2Pattern(const Gpt2Pattern&) = delete;
  Gpt2Pattern& operator=(const Gpt2Pattern&) = delete;

  // Yields the pieces of one text in order; joined, they are the text. For one thread.
  class Scanner {
   public:
    // `text` must be UTF-8 (ValidUtf8Prefix) and, like the pattern, outlive the scanner.
    Scanner(const Gpt2Pattern& pattern, std::string_view text);
    ~Scanner();
    Scanner(const Scanner&) = delete;
    Scanner& operator=(const Scanner&) = delete;

    // The next piece, never empty; false after the last.
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
