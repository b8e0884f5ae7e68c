#include "tests/layering/line_rules.h"

#include <algorithm>

#include "tests/layering/source_tokens.h"

namespace torus::layering {
namespace {

constexpr int64_t kMost = 100;

// UTF-8's bytes behind a character's first one are 10xxxxxx.
int64_t Characters(std::string_view line) {
  return std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

bool IsLetOff(std::string_view line) {
  return line.starts_with("#include") || line.find("://") != line.npos;
}

// Whether a part of [begin, end) is of a raw string.
bool HoldsRawString(const std::vector<SourceToken>& tokens, size_t begin, size_t end) {
  return std::ranges::any_of(tokens, [&](const SourceToken& token) {
    return token.kind == SourceToken::Kind::kRawString && token.begin < end && token.end > begin;
  });
}

}  // namespace

std::vector<std::string> CheckLines(std::string_view path, std::string_view text) {
  const std::vector<SourceToken> tokens = TokensOf(text);
  std::vector<std::string> violations;
  int number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const int64_t columns = Characters(line);
    if (columns > kMost && !IsLetOff(line) && !HoldsRawString(tokens, begin, end))
      violations.push_back(std::string(path) + ":" + std::to_string(number) + ": has " +
                           std::to_string(columns) + " columns, at most " + std::to_string(kMost) +
                           " are allowed");
    begin = end + 1;
  }
  return violations;
}

}  // namespace torus::layering
