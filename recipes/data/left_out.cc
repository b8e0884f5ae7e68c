#include "recipes/data/left_out.h"

#include <fmt/format.h>

#include <algorithm>

namespace torus::recipes {

std::string LeftOutLine(const std::vector<data::LeftOut>& left_out, bool more) {
  constexpr size_t kMost = 5;
  const size_t count = left_out.size(), told = std::min(count, kMost);
  std::string line =
      fmt::format("{}{} example{} left out", count, more ? " more" : "", count == 1 ? "" : "s");
  for (size_t i = 0; i < told; ++i)
    line += fmt::format("{} {}: {}", i == 0 ? ":" : ";", left_out[i].where, left_out[i].reason);
  if (told < count) line += fmt::format("; and {} more", count - told);
  return line;
}

std::string TruncatedLine(int64_t truncated, int64_t examples, int64_t length) {
  if (truncated == 0) return "";
  return fmt::format("{} of {} examples truncated to {} tokens", truncated, examples, length);
}

}  // namespace torus::recipes
