#include "runtime/did_you_mean.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace torus {
namespace {

constexpr size_t kFarthest = 2, kMost = 3, kShortest = 3;

// A pair of words of a few letters is near to everything.
bool IsNear(std::string_view word, std::string_view name, size_t distance) {
  return distance <= kFarthest && distance < std::min(word.size(), name.size());
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

std::vector<std::string> NamesLike(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::pair<size_t, std::string>> containing, near;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(word, name);
    if (IsNear(word, name, distance)) near.emplace_back(distance, name);
    if (word.size() >= kShortest && name.find(word) != name.npos)
      containing.emplace_back(name.size(), name);
  }
  auto& found = containing.empty() ? near : containing;
  std::ranges::stable_sort(found, {}, &std::pair<size_t, std::string>::first);
  if (found.size() > kMost) found.resize(kMost);
  std::vector<std::string> like;
  for (auto& [order, name] : found) like.push_back(std::move(name));
  return like;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string> like = NamesLike(word, names);
  std::string text;
  for (size_t i = 0; i < like.size(); ++i)
    text += (i == 0 ? "" : i + 1 == like.size() ? " or " : ", ") + like[i];
  return text.empty() ? "" : "; did you mean " + text + "?";
}

}  // namespace torus
