#include "tools/experiments/common/published.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/error.h"

namespace torus::experiments {
namespace {

std::vector<std::string> Split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(mark, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

Published::Published(std::string name, std::string_view tsv) : name_(std::move(name)) {
  const std::vector<std::string> lines = Split(tsv, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    std::vector<std::string> cells = Split(lines[i], '\t');
    if (columns_.empty()) {
      columns_ = std::move(cells);
      continue;
    }
    Require(cells.size() == columns_.size(), name_, "line {} must have {} cells, got {}", i + 1,
            columns_.size(), cells.size());
    rows_.push_back(std::move(cells));
  }
  Require(!rows_.empty(), name_, "must have a line of columns and a row");
}

const std::string& Published::Text(size_t row, std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  Require(found != columns_.end(), name_, "has no column {}", column);
  return rows_.at(row)[static_cast<size_t>(found - columns_.begin())];
}

std::optional<double> Published::Number(size_t row, std::string_view column) const {
  const std::string& text = Text(row, column);
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  Require(error == std::errc() && end == text.data() + text.size(), name_,
          "row {} must have a number as its {}, got {}", row + 1, column, text);
  return value;
}

int Published::Whole(size_t row, std::string_view column) const {
  const std::optional<double> value = Number(row, column);
  Require(value && *value == std::floor(*value), name_,
          "row {} must have a whole number as its {}, got {}", row + 1, column, Text(row, column));
  return static_cast<int>(*value);
}

}  // namespace torus::experiments
