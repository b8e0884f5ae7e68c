#include "parallel/pipeline/partition.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {

void CheckCuts(const Cuts& cuts, int num_blocks) {
  int last = 0;
  for (const int cut : cuts) {
    Require(cut > last && cut < num_blocks, "cut",
            "cuts must ascend within 1..{}, got {} (a cut names the first block of a stage)",
            num_blocks - 1, fmt::join(cuts, ","));
    last = cut;
  }
}

Cuts ParseCuts(std::string_view text) {
  Cuts cuts;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int cut = 0;
    const auto [next, error] = std::from_chars(at, end, cut);
    const bool more = next != end && *next == ',' && next + 1 != end;
    Require(error == std::errc() && (next == end || more), "cut",
            "needs block numbers and commas as in 1,18, got \"{}\"", text);
    cuts.push_back(cut);
    at = more ? next + 1 : next;
  }
  return cuts;
}

namespace {

void CheckCosts(std::span<const double> costs, int stages) {
  Require(stages >= 1 && stages <= static_cast<int>(costs.size()), "cut",
          "needs between 1 stage and one for each of {} blocks, got {}", costs.size(), stages);
  for (const double cost : costs) {
    Require(std::isfinite(cost) && cost >= 0, "cut",
            "a block's cost must be finite and not negative, got {}", cost);
  }
}

}  // namespace

Cuts BalanceCuts(std::span<const double> costs, int stages) {
  CheckCosts(costs, stages);
  const int n = static_cast<int>(costs.size());
  std::vector<double> prefix(n + 1, 0);
  for (int i = 0; i < n; ++i) prefix[i + 1] = prefix[i] + costs[i];
  // best[k][i]: the cost of the most costly of k stages over the first i blocks, with the best
  // cuts; from[k][i]: where the last stage begins.
  const double none = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, none));
  std::vector<std::vector<int>> from(stages + 1, std::vector<int>(n + 1, 0));
  best[0][0] = 0;
  for (int k = 1; k <= stages; ++k) {
    for (int i = k; i <= n; ++i) {
      for (int j = k - 1; j < i; ++j) {
        const double cost = std::max(best[k - 1][j], prefix[i] - prefix[j]);
        if (cost < best[k][i]) {
          best[k][i] = cost;
          from[k][i] = j;
        }
      }
    }
  }
  Cuts cuts;
  for (int k = stages, i = n; k > 1; --k) cuts.push_back(i = from[k][i]);
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

std::vector<Stage> MakeStages(std::vector<Block> blocks, const Cuts& cuts) {
  CheckCuts(cuts, static_cast<int>(blocks.size()));
  std::vector<Stage> stages;
  int begin = 0;
  for (size_t s = 0; s <= cuts.size(); ++s) {
    const int end = s < cuts.size() ? cuts[s] : static_cast<int>(blocks.size());
    stages.emplace_back(std::vector<Block>(std::make_move_iterator(blocks.begin() + begin),
                                           std::make_move_iterator(blocks.begin() + end)),
                        begin);
    begin = end;
  }
  return stages;
}

}  // namespace torus::parallel
