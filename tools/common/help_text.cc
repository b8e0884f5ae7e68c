#include "tools/common/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace torus::tools {
namespace {

std::string WrappedLine(const std::string& line, size_t columns) {
  const size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::string indent(first > 0 ? first + 4 : 0, ' ');
  std::string out = line.substr(0, first);
  size_t width = first;
  bool begins = true;
  std::istringstream words(line);
  for (std::string word; words >> word; begins = false) {
    if (!begins && width + 1 + word.size() > columns) {
      out += "\n" + indent;
      width = indent.size();
    } else if (!begins) {
      out += ' ';
      ++width;
    }
    out += word;
    width += word.size();
  }
  return out;
}

}  // namespace

std::string Choices(const std::string& lead,
                    const std::vector<std::pair<std::string, std::string>>& choices) {
  std::string text = lead + ":";
  for (const auto& [name, about] : choices) text += fmt::format("\n  {}: {}", name, about);
  return text;
}

std::string Wrapped(const std::string& text, size_t columns) {
  std::string out, line;
  std::istringstream lines(text);
  while (std::getline(lines, line)) {
    if (!out.empty()) out += '\n';
    out += WrappedLine(line, columns);
  }
  return out;
}

}  // namespace torus::tools
