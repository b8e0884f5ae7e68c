// Which ops the sources of ops/ record, read from their text.
#pragma once

#include <cstddef>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/testing/source_tree.h"

namespace torus::testing {

struct Recorded {
  std::set<std::string> names;
  std::vector<std::string> unread;  // calls whose op cannot be told from the source
};

// The innermost function that ends before `at` in a parameter `op`, if it is a helper Record...:
// then its own calls name the op.
inline bool IsInHelper(const std::string& text, std::ptrdiff_t at) {
  static const std::regex taking(R"re((\w+)\(\s*std::string_view op\b)re");
  std::string helper;
  for (std::sregex_iterator it(text.begin(), text.begin() + at, taking), end; it != end; ++it)
    helper = (*it)[1];
  return helper.starts_with("Record");
}

// The ops that a source records: Record("x", ...), a helper RecordThat("x", ...), or either with a
// constant of the same source.
inline void Collect(const std::string& text, Recorded& recorded) {
  static const std::regex call(R"re(\bRecord\w*\(\s*("?)([^",()]+)"?,)re");
  for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
    const std::string name = (*it)[2];
    std::smatch constant;
    if ((*it)[1].length() > 0)
      recorded.names.insert(name);
    else if (std::regex_search(text, constant,
                               std::regex("\\b" + name + R"re(\s*=\s*"([^"]+)")re")))
      recorded.names.insert(constant[1]);
    else if (name != "std::string_view op" && !(name == "op" && IsInHelper(text, it->position())))
      recorded.unread.push_back(it->str());
  }
}

inline Recorded RecordedIn(const std::string& text) {
  Recorded recorded;
  Collect(text, recorded);
  return recorded;
}

// Of all sources.
inline Recorded RecordedOps() {
  Recorded recorded;
  for (const auto& file : SourceFiles("ops", {".cc", ".h"}))
    Collect(ReadText(SourceRoot() / file), recorded);
  return recorded;
}

}  // namespace torus::testing
