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

std::string LeftOutLine(const std::vector<data::LeftOut>& left_out, bool more,
                        const std::string& file) {
  constexpr size_t kMost = 5;
  const size_t count = left_out.size(), told = std::min(count, kMost);
  std::string line =
      fmt::format("{}{} example{} left out", count, more ? " more" : "", count == 1 ? "" : "s");
  for (size_t i = 0; i < told; ++i)
    line += fmt::format("{} {}: {}", i == 0 ? ":" : ";", left_out[i].where, left_out[i].reason);
  if (told < count) line += fmt::format("; and {} more", count - told);
  if (told < count && !file.empty()) line += fmt::format(", all of them in {}", file);
  return line;
}

LeftOutNotes::LeftOutNotes(std::string file) : file_(std::move(file)) {
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
  return news.empty() ? "" : LeftOutLine(news, more, file_);
}

std::string TruncatedLine(int64_t truncated, int64_t examples, int64_t length) {
  if (truncated == 0) return "";
  return fmt::format("{} of {} examples truncated to {} tokens", truncated, examples, length);
}

}  // namespace torus::recipes
