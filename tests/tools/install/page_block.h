// Code blocks of a guide.
#pragma once

#include <sstream>
#include <string>

namespace torus::tools::testing {

// The indented lines of the page from the one that begins with `start`, without the indent.
inline std::string PageBlock(const std::string& page, const std::string& start) {
  const size_t begin = page.find("\n    " + start);
  if (begin == page.npos) return "";
  std::istringstream lines(page.substr(begin + 1));
  std::string block;
  for (std::string line; std::getline(lines, line) && (line.empty() || line.starts_with("    "));)
    block += line.empty() ? "\n" : line.substr(4) + "\n";
  return block;
}

}  // namespace torus::tools::testing
