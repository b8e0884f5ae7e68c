#include "tests/docs/blocks.h"

namespace torus::docs {
namespace {

constexpr std::string_view kIndent = "    ", kOpen = "<!-- ", kClose = " -->";

std::string MarkIn(std::string_view line) {
  if (!line.starts_with(kOpen) || !line.ends_with(kClose)) return "";
  return std::string(line.substr(kOpen.size(), line.size() - kOpen.size() - kClose.size()));
}

void Append(Block& block, std::string_view line) {
  if (!block.lines.empty() && block.lines.back().ends_with('\\'))
    block.lines.back().replace(block.lines.back().size() - 1, 1, line);
  else
    block.lines.emplace_back(line);
}

}  // namespace

std::vector<Block> BlocksOf(std::string_view page) {
  std::vector<Block> blocks;
  std::string_view above;  // the last line that is not empty, outside of blocks
  bool within = false, behind_empty = true;
  for (int number = 1; !page.empty(); ++number) {
    const size_t end = page.find('\n');
    const std::string_view line = page.substr(0, end);
    page = end == page.npos ? std::string_view() : page.substr(end + 1);
    if (line.empty()) {
      behind_empty = true;
      continue;
    }
    const bool indented = line.starts_with(kIndent) && (within || behind_empty);
    if (indented && !within) blocks.push_back({.line = number, .mark = MarkIn(above)});
    if (indented)
      Append(blocks.back(), line.substr(kIndent.size()));
    else
      above = line;
    within = indented;
    behind_empty = false;
  }
  return blocks;
}

}  // namespace torus::docs
