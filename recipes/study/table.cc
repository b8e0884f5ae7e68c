#include "recipes/study/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "recipes/study/escape.h"
#include "runtime/error.h"

namespace torus::study {
namespace {

// A comma before each three digits of the whole part.
std::string WithCommas(std::string text) {
  const size_t first = text[0] == '-' ? 1 : 0;
  for (size_t end = std::min(text.find('.'), text.size()); end > first + 3;)
    text.insert(end -= 3, 1, ',');
  return text;
}

// What rounds to zero has no sign.
std::string NumberText(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return zero ? text.substr(text[0] == '-') : WithCommas(text);
}

// The width in columns of a terminal: continuation bytes of UTF-8 have none.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Padded(const std::string& text, size_t width, bool right) {
  const std::string blanks(width - std::min(width, WidthOf(text)), ' ');
  return right ? blanks + text : text + blanks;
}

// Headings first, then the rows, each cell as TextOf gives it.
std::vector<std::vector<std::string>> Texts(const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : table.columns()) lines[0].push_back(HeadingOf(column));
  for (const std::vector<Cell>& row : table.rows()) {
    lines.emplace_back();
    for (size_t c = 0; c < row.size(); ++c)
      lines.back().push_back(TextOf(row[c], table.columns()[c]));
  }
  return lines;
}

bool HasDeviations(const Table& table, size_t column) {
  return std::ranges::any_of(table.rows(), [&](const std::vector<Cell>& row) {
    return std::holds_alternative<Measured>(row[column]);
  });
}

std::string FullNumber(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string CsvCell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return CsvField(*text);
  if (const auto* number = std::get_if<double>(&cell)) return FullNumber(*number);
  if (const auto* measured = std::get_if<Measured>(&cell)) return FullNumber(measured->mean);
  return "";
}

std::string CsvDeviation(const Cell& cell) {
  const auto* measured = std::get_if<Measured>(&cell);
  return measured == nullptr || measured->count < 2 ? "" : FullNumber(measured->deviation);
}

// A line of CSV: `cell`(c) for each column c, followed by `deviation`(c) if the column has
// deviations.
std::string CsvLine(const Table& table, const std::function<std::string(size_t)>& cell,
                    const std::function<std::string(size_t)>& deviation) {
  std::string line;
  for (size_t c = 0; c < table.columns().size(); ++c) {
    if (c > 0) line += ',';
    line += cell(c);
    if (HasDeviations(table, c)) line.append(1, ',').append(deviation(c));
  }
  return line + "\n";
}

// A long text may be broken into lines.
const char* ClassOf(const Table& table, const std::string& text, size_t column) {
  constexpr size_t kLong = 24;
  if (IsNumeric(table, column)) return "";
  return WidthOf(text) > kLong ? " class=\"text long\"" : " class=\"text\"";
}

std::string HtmlRow(const Table& table, const std::vector<std::string>& cells, const char* tag) {
  std::string html = "<tr>";
  for (size_t c = 0; c < cells.size(); ++c)
    html += fmt::format("<{0}{1}>{2}</{0}>", tag, ClassOf(table, cells[c], c), HtmlText(cells[c]));
  return html + "</tr>\n";
}

}  // namespace

Table::Table(std::string title, std::vector<Column> columns, std::string note)
    : title_(std::move(title)), note_(std::move(note)), columns_(std::move(columns)) {
  Require(!columns_.empty(), "table", "{} needs a column", title_);
}

void Table::Add(std::vector<Cell> row) {
  Require(row.size() == columns_.size(), "table", "{} has {} columns, got a row of {} cells",
          title_, columns_.size(), row.size());
  rows_.push_back(std::move(row));
}

std::string HeadingOf(const Column& column) {
  return column.unit.empty() ? column.name : fmt::format("{} ({})", column.name, column.unit);
}

std::string TextOf(const Cell& cell, const Column& column) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) return NumberText(*number, column.decimals);
  const auto* measured = std::get_if<Measured>(&cell);
  if (measured == nullptr) return "";
  const std::string mean = NumberText(measured->mean, column.decimals);
  return measured->count < 2
             ? mean
             : fmt::format("{} ± {}", mean, NumberText(measured->deviation, column.decimals));
}

bool IsNumeric(const Table& table, size_t column) {
  return std::ranges::any_of(table.rows(), [&](const std::vector<Cell>& row) {
    return std::holds_alternative<double>(row[column]) ||
           std::holds_alternative<Measured>(row[column]);
  });
}

std::string ToText(const Table& table) {
  const std::vector<std::vector<std::string>> lines = Texts(table);
  std::vector<size_t> widths(table.columns().size(), 0);
  for (const auto& line : lines)
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], WidthOf(line[c]));
  std::string text = table.title() + "\n";
  for (const auto& line : lines) {
    std::string row;
    for (size_t c = 0; c < line.size(); ++c)
      row.append(c == 0 ? 0 : 2, ' ').append(Padded(line[c], widths[c], IsNumeric(table, c)));
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return table.note().empty() ? text : text + table.note() + "\n";
}

std::string ToCsv(const Table& table) {
  const auto heading = [&](size_t c) { return CsvField(HeadingOf(table.columns()[c])); };
  std::string text = CsvLine(table, heading, [&](size_t c) {
    return CsvField(fmt::format("deviation of {}", HeadingOf(table.columns()[c])));
  });
  for (const std::vector<Cell>& row : table.rows())
    text += CsvLine(
        table, [&](size_t c) { return CsvCell(row[c]); },
        [&](size_t c) { return CsvDeviation(row[c]); });
  return text;
}

std::string ToMarkdown(const Table& table) {
  const std::vector<std::vector<std::string>> lines = Texts(table);
  std::string text = fmt::format("**{}**\n\n", MarkdownText(table.title()));
  for (size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& cell : lines[i]) text += fmt::format("| {} ", MarkdownText(cell));
    text += "|\n";
    if (i > 0) continue;
    for (size_t c = 0; c < lines[0].size(); ++c) text += IsNumeric(table, c) ? "|---:" : "|---";
    text += "|\n";
  }
  return table.note().empty() ? text
                              : text.append("\n").append(MarkdownText(table.note())).append("\n");
}

std::string ToHtml(const Table& table) {
  const std::vector<std::vector<std::string>> lines = Texts(table);
  std::string html = fmt::format("<h3>{}</h3>\n<div class=\"scroll\"><table>\n<thead>{}</thead>\n",
                                 HtmlText(table.title()), HtmlRow(table, lines[0], "th"));
  for (size_t i = 1; i < lines.size(); ++i) html += HtmlRow(table, lines[i], "td");
  html += "</table></div>\n";
  return table.note().empty()
             ? html
             : html + fmt::format("<p class=\"note\">{}</p>\n", HtmlText(table.note()));
}

}  // namespace torus::study
