#include "data/files/lines.h"

#include <algorithm>

namespace torus::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Takes the part before the next `mark` off the text, together with the mark.
std::string_view Take(std::string_view* text, char mark) {
  const size_t end = std::min(text->find(mark), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

}  // namespace

std::vector<Line> LinesOf(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const char end = text.find('\n') == text.npos ? '\r' : '\n';
  std::vector<Line> lines;
  while (!text.empty()) {
    std::string_view line = Take(&text, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({lines.size() + 1, line});
  }
  return lines;
}

std::vector<std::string_view> Columns(std::string_view line) {
  std::vector<std::string_view> columns;
  for (;;) {
    const size_t tab = line.find('\t');
    columns.push_back(line.substr(0, tab));
    if (tab == line.npos) return columns;
    line.remove_prefix(tab + 1);
  }
}

}  // namespace torus::data
