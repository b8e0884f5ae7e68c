#include "tools/labs/build_it_yourself/grader/terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <vector>

namespace torus::tools::labs {
namespace {

// How often each rank's term is in `sum`, which is a sum of 4^rank; none if it is no such sum.
std::optional<std::vector<int>> CountsIn(double sum, int ranks) {
  if (sum != std::floor(sum) || sum < 0 || sum >= 1e15) return std::nullopt;
  std::vector<int> counts;
  int64_t left = static_cast<int64_t>(sum);
  for (int rank = 0; rank < ranks; ++rank, left /= 4) counts.push_back(static_cast<int>(left % 4));
  if (left != 0) return std::nullopt;
  return counts;
}

std::string RanksText(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

// "once rank 1, 2 times ranks 0, 3; not rank 2"
std::string CountsText(const std::vector<int>& counts, const std::function<int(int)>& wanted) {
  std::map<int, std::vector<int>> by_count;
  std::vector<int> missing;
  for (int rank = 0; rank < static_cast<int>(counts.size()); ++rank) {
    if (counts[rank] > 0) by_count[counts[rank]].push_back(rank);
    if (counts[rank] < wanted(rank)) missing.push_back(rank);
  }
  std::vector<std::string> has;
  for (const auto& [count, ranks] : by_count)
    has.push_back(count == 1 ? "once " + RanksText(ranks)
                             : fmt::format("{} times {}", count, RanksText(ranks)));
  const std::string text = has.empty() ? "none" : fmt::format("{}", fmt::join(has, ", "));
  return missing.empty() || has.empty() ? text : text + "; not " + RanksText(missing);
}

}  // namespace

std::string WrongTerms(float got, int s, int ranks, const std::function<int(int rank)>& wanted) {
  const double terms = static_cast<double>(got) / s;
  const auto as_mean = CountsIn(terms, ranks), as_sum = CountsIn(terms / ranks, ranks);
  if (as_mean && as_sum && terms != 0)
    return fmt::format("of the ranks' terms it has {}; or, if it is not divided by n, {}",
                       CountsText(*as_mean, wanted), CountsText(*as_sum, wanted));
  if (as_mean) return "of the ranks' terms it has " + CountsText(*as_mean, wanted);
  if (as_sum)
    return "it is not divided by n; of the ranks' terms it has " + CountsText(*as_sum, wanted);
  return "this is no mean and no sum of terms of this element: is it another's?";
}

}  // namespace torus::tools::labs
