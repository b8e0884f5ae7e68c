#include "tests/layering/message_rules.h"

#include <algorithm>
#include <regex>

#include "tests/layering/source_tokens.h"

namespace torus::layering {
namespace {

// Of a call whose arguments begin at `at` of `code`: all behind the first, the condition. Where the
// call ends stands in `end`.
std::string_view BehindCondition(std::string_view code, size_t at, size_t& end) {
  size_t begin = code.npos;
  for (int depth = 1; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
    if (c == ',' && depth == 1 && begin == code.npos) begin = at + 1;
  }
  end = at;
  return begin == code.npos ? std::string_view() : code.substr(begin, at - begin);
}

}  // namespace

std::vector<std::string> CheckMessages(std::string_view path, std::string_view text) {
  static const std::regex call(R"(\b(Require|Rule)\()");
  static const std::regex makes_text(
      R"(\b(ToString|Describe)\(|\bfmt::format\(|\bstd::to_string\(|"\s*\+|\+\s*")");
  const std::string all = CodeOf(text);
  const std::string_view code = all;
  std::vector<std::string> violations;
  std::match_results<std::string_view::const_iterator> found;
  for (size_t at = 0;
       std::regex_search(code.begin() + static_cast<ptrdiff_t>(at), code.end(), found, call);) {
    const size_t begin = at + static_cast<size_t>(found.position());
    const std::string_view rest =
        BehindCondition(code, begin + static_cast<size_t>(found.length()), at);
    if (!std::regex_search(rest.begin(), rest.end(), makes_text)) continue;
    const auto line = 1 + std::ranges::count(code.substr(0, begin), '\n');
    violations.push_back(std::string(path) + ":" + std::to_string(line) +
                         ": makes text for a message that may not be needed");
  }
  return violations;
}

}  // namespace torus::layering
