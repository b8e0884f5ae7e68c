#include "recipes/generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

// The `count` likeliest tokens, in the order that sampling.h states.
std::vector<int64_t> Likeliest(std::span<const float> logits, size_t count) {
  std::vector<int64_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto before = [&](int64_t a, int64_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(tokens.begin(), tokens.begin() + static_cast<int64_t>(count), tokens.end(),
                    before);
  tokens.resize(count);
  return tokens;
}

// Running sums of exp((logit - largest) / temperature), which are unnormalized probabilities.
std::vector<double> Cumulate(std::span<const float> logits, const std::vector<int64_t>& tokens,
                             double temperature) {
  const double largest = logits[static_cast<size_t>(tokens.front())];
  std::vector<double> sums;
  double sum = 0;
  for (const int64_t token : tokens) {
    sum += std::exp((logits[static_cast<size_t>(token)] - largest) / temperature);
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

void Check(const SamplingOptions& options) {
  Require(options.temperature >= 0 && std::isfinite(options.temperature), "generate",
          "--temperature must be at least 0, got {}", options.temperature);
  Require(options.top_k >= 0, "generate", "--top-k must be at least 0, got {}", options.top_k);
  Require(options.top_p > 0 && options.top_p <= 1, "generate",
          "--top-p must be above 0 and at most 1, got {}", options.top_p);
  Require(options.repetition_penalty > 0 && std::isfinite(options.repetition_penalty), "generate",
          "--repetition-penalty must be above 0, got {}", options.repetition_penalty);
}

void Penalize(const std::set<int32_t>& seen, double penalty, std::span<float> logits) {
  const auto factor = static_cast<float>(penalty);
  for (const int32_t token : seen) {
    float& logit = logits[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / factor : logit * factor;
  }
}

int64_t SampleToken(std::span<const float> logits, const SamplingOptions& options, double uniform) {
  Check(options);
  Require(!logits.empty(), "generate", "needs at least one logit, got none");
  for (const float logit : logits)
    Require(std::isfinite(logit), "generate", "needs finite logits, got {}", logit);
  const size_t all = logits.size();
  size_t count = options.top_k == 0 ? all : std::min(all, static_cast<size_t>(options.top_k));
  if (options.temperature == 0) count = 1;
  const std::vector<int64_t> tokens = Likeliest(logits, count);
  if (count == 1) return tokens.front();
  const std::vector<double> sums = Cumulate(logits, tokens, options.temperature);
  // The nucleus ends with the first token at which the sum reaches top_p of the total.
  const auto nucleus = std::lower_bound(sums.begin(), sums.end() - 1, options.top_p * sums.back());
  const auto drawn = std::upper_bound(sums.begin(), nucleus, uniform * *nucleus);
  return tokens[static_cast<size_t>(drawn - sums.begin())];
}

}  // namespace torus::recipes
