#include "tests/layering/source_tokens.h"

#include <algorithm>
#include <cctype>

namespace torus::layering {
namespace {

using Kind = SourceToken::Kind;

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Behind the first `end` from `at` on.
size_t Behind(std::string_view text, std::string_view end, size_t at) {
  const size_t found = text.find(end, at);
  return found == text.npos ? text.size() : found + end.size();
}

// Behind the word or number that begins at `at`: in a number an apostrophe separates digits.
size_t EndOfWord(std::string_view text, size_t at) {
  const bool number = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  const auto goes_on = [&](size_t i) {
    if (i >= text.size()) return false;
    return IsOfWord(text[i]) ||
           (number && text[i] == '\'' && i + 1 < text.size() && IsOfWord(text[i + 1]));
  };
  while (goes_on(at)) ++at;
  return at;
}

// Behind the string or character that begins at `at`.
size_t EndOfLiteral(std::string_view text, size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at) at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

// Whether a quote behind `word` begins a raw string.
bool IsRawPrefix(std::string_view word) {
  return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

// Behind the raw string whose quote is at `at`.
size_t EndOfRawString(std::string_view text, size_t at) {
  const size_t open = std::min(text.find('(', at), text.size());
  std::string end(1, ')');
  end += text.substr(at + 1, open - at - 1);
  end += '"';
  return Behind(text, end, open);
}

}  // namespace

std::vector<SourceToken> TokensOf(std::string_view text) {
  std::vector<SourceToken> tokens;
  std::string_view word;  // that ends at `at`
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const std::string_view rest = text.substr(at);
    const auto add = [&](Kind kind, size_t end) { tokens.push_back({kind, begin, at = end}); };
    if (rest.starts_with("//")) {
      add(Kind::kComment, std::min(text.find('\n', at), text.size()));
    } else if (rest.starts_with("/*")) {
      add(Kind::kComment, Behind(text, "*/", at + 2));
    } else if (rest[0] == '"' && IsRawPrefix(word)) {
      add(Kind::kRawString, EndOfRawString(text, at));
    } else if (rest[0] == '"' || rest[0] == '\'') {
      add(Kind::kLiteral, EndOfLiteral(text, at));
    } else {
      at = IsOfWord(rest[0]) ? EndOfWord(text, at) : at + 1;
    }
    word = IsOfWord(rest[0]) ? text.substr(begin, at - begin) : std::string_view();
  }
  return tokens;
}

std::string CodeOf(std::string_view text) {
  std::string code(text);
  for (const SourceToken& token : TokensOf(text)) {
    const size_t quote = token.kind == Kind::kComment ? 0 : 1;
    const size_t end = std::max(token.begin + quote, token.end - quote);
    for (size_t i = token.begin + quote; i < end; ++i)
      if (code[i] != '\n') code[i] = ' ';
  }
  return code;
}

}  // namespace torus::layering
