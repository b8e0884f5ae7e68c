#include "recipes/data/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

void Append(const std::string& path, const std::string& lines) {
  std::ofstream out(path, std::ios::app);
  out << lines << std::flush;
  if (!out) Throw<BrokenEnvironment>(path, "cannot be written");
}

}  // namespace

std::string LeftOutText(const std::vector<data::LeftOut>& left_out, bool more,
                        const std::string& file, Omitted what) {
  constexpr size_t kMost = 5;  // on one line
  const size_t count = left_out.size();
  const bool lines = count > kMost && file.empty();
  const char* const noun = what == Omitted::kExamples ? "example" : "other file";
  const char* const verb = what == Omitted::kExamples ? "left out" : "passed over";
  std::string text =
      fmt::format("{}{} {}{} {}:", count, more ? " more" : "", noun, count == 1 ? "" : "s", verb);
  for (size_t i = 0; i < (lines ? count : std::min(count, kMost)); ++i)
    text += fmt::format("{}{}: {}",
                        lines    ? "\n  "
                        : i == 0 ? " "
                                 : "; ",
                        left_out[i].where, left_out[i].reason);
  if (count > kMost && !lines)
    text += fmt::format("; and {} more, all of them in {}", count - kMost, file);
  return text;
}

LeftOutNotes::LeftOutNotes(std::string file, Omitted what) : file_(std::move(file)), what_(what) {
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) written_.insert(line);
}

std::string LeftOutNotes::Tell(const std::vector<data::LeftOut>& left_out) {
  const bool more = !told_.empty();
  std::vector<data::LeftOut> news;
  std::string lines;
  for (const data::LeftOut& one : left_out) {
    if (!told_.insert(one.where).second) continue;
    news.push_back(one);
    const std::string line = fmt::format("{}: {}", one.where, one.reason);
    if (written_.insert(line).second) lines += line + "\n";
  }
  if (!file_.empty() && !lines.empty()) Append(file_, lines);
  return news.empty() ? "" : LeftOutText(news, more, file_, what_);
}

std::string TruncatedLine(int64_t truncated, int64_t examples, int64_t length) {
  if (truncated == 0) return "";
  return fmt::format("{} of {} examples truncated to {} tokens", truncated, examples, length);
}

}  // namespace torus::recipes
