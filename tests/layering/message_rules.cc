#include "tests/layering/message_rules.h"

#include <algorithm>
#include <regex>

namespace torus::layering {
namespace {

// Behind the string or character that begins at `at`.
size_t EndOfLiteral(std::string_view text, size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at) at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

// Of a call whose arguments begin at `at`: all behind the first, the condition. Where the call ends
// stands in `end`.
std::string_view BehindCondition(std::string_view text, size_t at, size_t& end) {
  size_t begin = text.npos;
  for (int depth = 1; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = EndOfLiteral(text, at);
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
    if (c == ',' && depth == 1 && begin == text.npos) begin = at + 1;
    ++at;
  }
  end = at;
  return begin == text.npos ? std::string_view() : text.substr(begin, at - begin);
}

}  // namespace

std::vector<std::string> CheckMessages(std::string_view path, std::string_view text) {
  static const std::regex call(R"(\b(Require|Rule)\()");
  static const std::regex makes_text(
      R"(\b(ToString|Describe)\(|\bfmt::format\(|\bstd::to_string\(|"\s*\+|\+\s*")");
  std::vector<std::string> violations;
  std::match_results<std::string_view::const_iterator> found;
  for (size_t at = 0;
       std::regex_search(text.begin() + static_cast<ptrdiff_t>(at), text.end(), found, call);) {
    const size_t begin = at + static_cast<size_t>(found.position());
    const std::string_view rest =
        BehindCondition(text, begin + static_cast<size_t>(found.length()), at);
    if (!std::regex_search(rest.begin(), rest.end(), makes_text)) continue;
    const auto line = 1 + std::ranges::count(text.substr(0, begin), '\n');
    violations.push_back(std::string(path) + ":" + std::to_string(line) +
                         ": makes text for a message that may not be needed");
  }
  return violations;
}

}  // namespace torus::layering
