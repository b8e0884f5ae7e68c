#include "parallel/codec/sampled_brackets.h"

#include <algorithm>
#include <cmath>

namespace torus::parallel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kLeastSample = 1024, kMostSample = 1 << 15;
constexpr int64_t kOneIn = 64;       // one of so many values is sampled, within these bounds
constexpr double kDeviations = 3.5;  // standard deviations allowed for the sample's ranks

// Takes one value, at a pseudo-random place, from each of equally long stretches, and sorts them.
// The places do not change the result, only how often a guess is wrong.
std::vector<float> SampleOf(std::span<const float> values) {
  const int64_t count = static_cast<int64_t>(values.size());
  const int64_t size = std::clamp(count / kOneIn, kLeastSample, kMostSample);
  const auto stretch = static_cast<uint64_t>(count / size);
  std::vector<float> sample(static_cast<size_t>(size));
  uint64_t state = 1;
  for (int64_t i = 0; i < size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    sample[i] = values[static_cast<uint64_t>(count * i / size) + (state >> 33) % stretch];
  }
  if (!std::ranges::all_of(sample, [](float v) { return std::isfinite(v); })) return {};
  std::ranges::sort(sample);
  return sample;
}

// Places in the sample, [begin, end).
struct Stretch {
  int64_t begin, end;
};

Stretch StretchOf(int64_t rank, int64_t count, int64_t size) {
  const double share = static_cast<double>(rank) / static_cast<double>(count);
  const double middle = share * static_cast<double>(size);
  const double spread = kDeviations * std::sqrt(middle * (1 - share)) + 8;
  return {std::max<int64_t>(0, static_cast<int64_t>(middle - spread)),
          std::min(size, static_cast<int64_t>(middle + spread) + 2)};
}

// Merges stretches that overlap or share a value at their ends.
std::vector<Stretch> StretchesOf(std::span<const float> sample, std::span<const int64_t> ranks,
                                 int64_t count) {
  const int64_t size = static_cast<int64_t>(sample.size());
  std::vector<Stretch> all;
  for (const int64_t rank : ranks) {
    const Stretch next = StretchOf(rank, count, size);
    const bool joins = !all.empty() && (next.begin <= all.back().end ||
                                        sample[next.begin] <= sample[all.back().end - 1]);
    if (joins)
      all.back().end = std::max(all.back().end, next.end);
    else
      all.push_back(next);
  }
  return all;
}

// The most frequent value of a stretch, if it is frequent enough to stand out.
std::vector<float> TieOf(std::span<const float> stretch) {
  size_t longest = 0;
  float tied = 0;
  for (size_t i = 0; i < stretch.size();) {
    size_t end = i;
    while (end < stretch.size() && stretch[end] == stretch[i]) ++end;
    if (end - i > longest) longest = end - i, tied = stretch[i];
    i = end;
  }
  if (longest < 4 || longest * 16 < stretch.size()) return {};
  return {tied};
}

float Above(float value) { return std::nextafter(value, kInfinity); }

}  // namespace

std::optional<Brackets> GuessBrackets(std::span<const float> values,
                                      std::span<const int64_t> ranks) {
  const std::vector<float> sample = SampleOf(values);
  if (sample.empty()) return std::nullopt;
  const int64_t size = static_cast<int64_t>(sample.size());
  Brackets brackets;
  const auto add = [&](float threshold, bool tied) {
    brackets.thresholds.push_back(threshold);
    brackets.tied.push_back(tied);
  };
  for (const Stretch& s : StretchesOf(sample, ranks, static_cast<int64_t>(values.size()))) {
    add(s.begin == 0 ? -kInfinity : sample[s.begin], false);
    for (const float tied : TieOf(std::span(sample).subspan(s.begin, s.end - s.begin))) {
      add(tied, true);
      add(Above(tied), false);
    }
    add(s.end == size ? kInfinity : Above(sample[s.end - 1]), false);
  }
  const auto padded = [](int n) { return n == 2 || n == 6 || (n > 0 && n % 4 == 0); };
  while (!padded(brackets.size())) add(kInfinity, false);
  if (brackets.size() > Brackets::kMostThresholds) return std::nullopt;
  return brackets;
}

}  // namespace torus::parallel
