#include "runtime/one_line.h"

#include <fmt/format.h>

#include <iterator>

namespace torus {

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else if ((c >= 0 && c < ' ') || c == '\x7f')
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", static_cast<unsigned>(c));
    else
      line += c;
  }
  return line;
}

}  // namespace torus
