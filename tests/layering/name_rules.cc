#include "tests/layering/name_rules.h"

#include <regex>
#include <sstream>

#include "tests/layering/source_tokens.h"

namespace torus::layering {
namespace {

// clang-format ends a namespace with this comment, and indents nothing in it.
constexpr std::string_view kEnd = "}  // namespace";

void AddNames(const std::string& line, const std::string& within, std::vector<std::string>& names) {
  static const std::regex type(
      R"(^(?:struct|class|enum class) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: :.*)? \{)");
  static const std::regex constant(R"(^(?:inline )?constexpr )"),
      name(R"(\b(k[A-Z]\w*)(?: =|\[|\{))");
  if (std::smatch match; std::regex_search(line, match, type))
    names.push_back(within + match[1].str());
  if (!std::regex_search(line, constant)) return;
  for (std::sregex_iterator it(line.begin(), line.end(), name), end; it != end; ++it)
    names.push_back(within + (*it)[1].str());
}

}  // namespace

std::vector<std::string> NamesOf(std::string_view text) {
  static const std::regex open(R"(^(?:inline )?namespace ([\w:]*) ?\{)");
  std::vector<std::string> names;
  std::vector<std::string> within{""};
  std::istringstream lines{std::string(text)}, codes{CodeOf(text)};
  std::string line, code;
  while (std::getline(lines, line) && std::getline(codes, code)) {
    std::smatch match;
    if (std::regex_search(code, match, open))
      within.push_back(within.back() + match[1].str() + "::");
    else if (line.starts_with(kEnd) && within.size() > 1)
      within.pop_back();
    else
      AddNames(code, within.back(), names);
  }
  return names;
}

}  // namespace torus::layering
