// Regular expressions over UTF-8 texts, run by PCRE2, whose Unicode tables define what a letter is
// (10.42: Unicode 14).
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace torus::data {

// A compiled expression; compiled to machine code if the system allows PCRE2 to. Thread-safe.
class Pattern {
 public:
  // Throws InternalError for an expression that is none.
  explicit Pattern(const char* expression);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Looks for matches of one pattern, which must outlive it. Use it from one thread only.
  class Matcher {
   public:
    explicit Matcher(const Pattern& pattern);
    ~Matcher();
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    // The end of the match that begins at byte `at` of `text`; `at` if none does. `text` must be
    // UTF-8 (ValidUtf8Prefix).
    size_t EndAt(std::string_view text, size_t at);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace torus::data
