// Table: the measurements of a study, one row for each thing compared. Shown as text, CSV, Markdown
// and HTML.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace torus::study {

// The mean over several runs. `deviation` is the sample standard deviation, with n - 1; it is not
// shown if `count` is below 2.
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

// An empty cell, a text, a number, or a mean with its deviation.
using Cell = std::variant<std::monostate, std::string, double, Measured>;

class Table {
 public:
  // `title` is shown above the table, and `note`, if there is one, in small print below it.
  Table(std::string title, std::vector<Column> columns, std::string note = {});

  // Throws BadInput unless there is a cell for each column.
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
// "93.40", "93.40 ± 0.12", "1,234,567"; "" for an empty cell, "-" for a number that is not finite.
std::string TextOf(const Cell& cell, const Column& column);
// Whether the column has numbers, which are aligned to the right.
bool IsNumeric(const Table& table, size_t column);

// For a terminal: a line of headings, then one line per row, with two spaces between columns.
std::string ToText(const Table& table);
// RFC 4180: a line of headings and one line per row, with numbers in full precision. A column with
// deviations is followed by a column for them, which is empty where there is none.
std::string ToCsv(const Table& table);
// A table in GitHub's Markdown.
std::string ToMarkdown(const Table& table);
// A table element in a box that scrolls sideways if the table is too wide.
std::string ToHtml(const Table& table);

}  // namespace torus::study
