#include "data/text/glue.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "data/files/lines.h"
#include "data/text/utf8.h"
#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::data {
namespace {

using Row = std::vector<std::string_view>;

// The column names of a task.
struct Layout {
  std::string_view task, first, second, label;  // second: empty if there is none
  std::array<std::string_view, 2> classes;
};

constexpr std::array<Layout, 6> kLayouts{
    {{"rte", "sentence1", "sentence2", "label", {"entailment", "not_entailment"}},
     {"cola", "sentence", "", "label", {"unacceptable", "acceptable"}},
     {"sst2", "sentence", "", "label", {"negative", "positive"}},
     {"wnli", "sentence1", "sentence2", "label", {"not_entailment", "entailment"}},
     {"qqp", "question1", "question2", "is_duplicate", {"not_duplicate", "duplicate"}},
     {"mrpc", "#1 String", "#2 String", "Quality", {"not_equivalent", "equivalent"}}}};

const Layout& LayoutOf(const std::string& task) {
  const auto found = std::ranges::find(kLayouts, task, &Layout::task);
  if (found == kLayouts.end())
    Throw<BadInput>("data", "requires a GLUE task of {}, got '{}'", fmt::join(GlueTasks(), ", "),
                    task);
  return *found;
}

std::optional<size_t> IndexOf(const Row& row, std::string_view name) {
  const auto found = std::ranges::find(row, name);
  if (name.empty() || found == row.end()) return std::nullopt;
  return found - row.begin();
}

// The column numbers of a file.
struct Places {
  size_t columns = 0;
  size_t first = 0;
  std::optional<size_t> second, label;
};

// The first bytes of UTF-8, as many whole characters as are in `most`.
std::string_view Shortened(std::string_view text, size_t most) {
  return text.substr(0, ValidUtf8Prefix(text.substr(0, most)));
}

Places PlacesOfHeader(const Layout& layout, const Row& header, const TextTable& table) {
  const auto first = IndexOf(header, layout.first), second = IndexOf(header, layout.second);
  if (!first.has_value() || !(second.has_value() || layout.second.empty()))
    Throw<BadInput>(table.path, "line 1: requires a header with {}{}{}, got '{}'", layout.first,
                    layout.second.empty() ? "" : " and ", layout.second, table.header);
  return {header.size(), *first, second, IndexOf(header, layout.label)};
}

// The label in a field: its number, or the class's name; none if it is neither. RTE's files have
// names where they come from GLUE itself and numbers where other programs have written them.
std::optional<int64_t> LabelOf(const Layout& layout, std::string_view field) {
  for (int64_t label = 0; label < 2; ++label)
    if (field == (label == 0 ? "0" : "1") || field == layout.classes[label]) return label;
  return std::nullopt;
}

class GlueReader {
 public:
  GlueReader(const Layout& layout, std::string path) : layout_(layout), path_(std::move(path)) {
    table_.name = fmt::format("{} {}", layout.task, path_.substr(path_.rfind('/') + 1));
    table_.path = path_;
    table_.pairs = !layout.second.empty();
    table_.classes.assign(layout.classes.begin(), layout.classes.end());
    table_.label_column = layout.label;
  }

  TextTable Read(std::string_view text) {
    const size_t valid = ValidUtf8Prefix(text);
    Require(valid == text.size(), path_, "requires UTF-8, got byte {:#04x} at offset {}",
            static_cast<uint8_t>(valid < text.size() ? text[valid] : 0), valid);
    std::vector<Line> lines = LinesOf(text);
    std::erase_if(lines, [](const Line& line) { return line.text.empty(); });
    Require(!lines.empty(), path_, "requires a header or an example, got an empty file");
    if (Begin(lines[0].text)) lines.erase(lines.begin());
    table_.labelled = places_.label.has_value();
    const size_t most = std::max<size_t>(1, lines.size() / 100);
    for (const Line& line : lines) {
      Add(line);
      if (table_.skipped.size() <= most) continue;
      const SkippedLine& bad = table_.skipped[0];
      Throw<BadInput>(path_, "more than {} of {} lines are bad, the first one line {}: {}", most,
                      lines.size(), bad.line, bad.reason);
    }
    Require(!table_.examples.empty(), path_, "requires at least one example, got none");
    return std::move(table_);
  }

 private:
  // Finds the columns. Returns whether the first line is a header.
  bool Begin(std::string_view line) {
    const Row row = Columns(line);
    table_.header = Shortened(fmt::format("{}", fmt::join(row, " ")), 100);
    const bool header = IndexOf(row, layout_.first).has_value();
    if (!header && layout_.task == "cola") {
      places_ = {.columns = 4, .first = 3, .second = {}, .label = 1};
    } else if (!header && layout_.task == "sst2") {
      spaced_ = true;
      places_ = {.columns = 2, .first = 1, .second = {}, .label = 0};
    } else {
      places_ = PlacesOfHeader(layout_, row, table_);
    }
    return header;
  }

  Row RowOf(std::string_view line) const {
    if (!spaced_) return Columns(line);
    const size_t space = line.find(' ');
    if (space == line.npos) return {line};
    return {line.substr(0, space), line.substr(space + 1)};
  }

  void Add(const Line& line) {
    const Row row = RowOf(line.text);
    const auto skip = [&](std::string reason) {
      table_.skipped.push_back({line.number, std::move(reason)});
    };
    if (row.size() != places_.columns)
      return skip(fmt::format("requires {} columns, got {}", places_.columns, row.size()));
    TextExample example{.first = std::string(row[places_.first])};
    if (places_.second.has_value()) example.second = row[*places_.second];
    if (example.first.empty() || (table_.pairs && example.second.empty()))
      return skip("requires a sentence, got an empty one");
    if (places_.label.has_value()) {
      const std::string_view field = row[*places_.label];
      const auto label = LabelOf(layout_, field);
      if (!label.has_value())
        return skip(fmt::format("requires a label of the task, got '{}'", Shortened(field, 40)));
      example.label = *label;
    }
    table_.examples.push_back(std::move(example));
  }

  const Layout& layout_;
  const std::string path_;
  Places places_;
  bool spaced_ = false;  // "label sentence" without tabs
  TextTable table_;
};

}  // namespace

std::vector<std::string> GlueTasks() {
  std::vector<std::string> names;
  for (const Layout& layout : kLayouts) names.emplace_back(layout.task);
  return names;
}

std::vector<std::string> GlueClasses(const std::string& task) {
  const Layout& layout = LayoutOf(task);
  return {layout.classes.begin(), layout.classes.end()};
}

TextTable ReadGlue(const std::string& task, const std::string& path) {
  const Layout& layout = LayoutOf(task);
  return GlueReader(layout, path).Read(io::InputFile(path).ReadAll());
}

}  // namespace torus::data
