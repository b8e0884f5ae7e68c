// Lines of a text in memory, numbered for messages.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace torus::data {

struct Line {
  size_t number = 0;  // from 1
  std::string_view text;
};

// The lines between line feeds, without a carriage return at the end and without a byte order mark
// at the beginning of the text. In a text without any line feed, carriage returns end the lines.
// The text after the last end of a line is a line unless it is empty.
std::vector<Line> LinesOf(std::string_view text);

// The parts between tabs: at least one.
std::vector<std::string_view> Columns(std::string_view line);

}  // namespace torus::data
