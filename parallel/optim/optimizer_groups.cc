#include "parallel/optim/optimizer_groups.h"

#include "runtime/error.h"

namespace torus::parallel {

bool Matches(std::string_view name, std::string_view pattern) {
  // On a mismatch the last '*' takes one more character; earlier ones need not.
  size_t n = 0, p = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::optional<size_t>> FirstMatches(const std::vector<NamedVariable>& parameters,
                                                const std::vector<NamePattern>& patterns,
                                                bool some) {
  std::vector<std::optional<size_t>> matches(parameters.size());
  std::vector<bool> used(patterns.size(), some);
  for (size_t i = 0; i < parameters.size(); ++i)
    for (size_t k = 0; k < patterns.size() && !matches[i]; ++k)
      if (Matches(parameters[i].name, patterns[k].pattern)) {
        matches[i] = k;
        used[k] = true;
      }
  for (size_t k = 0; k < patterns.size(); ++k)
    Require(used[k], "optimizer",
            "pattern '{}' matches none of {} parameters, or only such as an earlier pattern "
            "matches; '*' stands for any characters, as in '*bias'",
            patterns[k].pattern, parameters.size());
  return matches;
}

}  // namespace torus::parallel
