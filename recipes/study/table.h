// Table: what a study measured, a row each of what it compares, shown as text, CSV, Markdown and
// HTML.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace torus::study {

// The mean over several runs. `deviation`: the sample deviation, with n - 1; nothing is said of it
// where `count` is below 2.
struct Measured {
  double mean = 0;
  double deviation = 0;
  int count = 1;
  friend bool operator==(const Measured&, const Measured&) = default;
};

struct Column {
  std::string name;
  std::string unit = {};  // "s", "%"; empty for none
  int decimals = 2;       // of its numbers
};

// Nothing, a text, a number, or a mean with its deviation.
using Cell = std::variant<std::monostate, std::string, double, Measured>;

class Table {
 public:
  // `title` stands above it; `note`, where there is one, in small print below it.
  Table(std::string title, std::vector<Column> columns, std::string note = {});

  // BadInput unless there is a cell for each column.
  void Add(std::vector<Cell> row);

  const std::string& title() const { return title_; }
  const std::string& note() const { return note_; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::string title_, note_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "accuracy (%)".
std::string HeadingOf(const Column& column);
// "93.40", "93.40 ± 0.12", "" for nothing; "-" for a number that is not finite.
std::string TextOf(const Cell& cell, const Column& column);
// Whether the column has numbers, which stand at the right.
bool IsNumeric(const Table& table, size_t column);

// For a terminal: a line of headings, one a row, columns apart by two spaces.
std::string ToText(const Table& table);
// RFC 4180, a heading and a line a row; numbers in full. A column with deviations has a second one
// for them, and counts nothing where there is none.
std::string ToCsv(const Table& table);
// GitHub's table.
std::string ToMarkdown(const Table& table);
// A table element in a box of its own that scrolls sideways where it is too wide.
std::string ToHtml(const Table& table);

}  // namespace torus::study
