#include "tools/experiments/common/steady_times.h"

#include <algorithm>
#include <set>

#include "recipes/report/step_parts.h"

namespace torus::experiments {
namespace {

using OfRanks = std::map<int, recipes::StepPart>;

// From the first event of a step to its last.
double WallOf(const OfRanks& of_ranks) {
  const auto begins = [](const auto& rank) { return rank.second.begin_ns; };
  const auto ends = [](const auto& rank) { return rank.second.end_ns; };
  const int64_t begin = begins(*std::ranges::min_element(of_ranks, {}, begins)),
                end = ends(*std::ranges::max_element(of_ranks, {}, ends));
  return 1e-9 * static_cast<double>(end - begin);
}

}  // namespace

std::map<std::string, double> SteadyTimes(const std::vector<trace::Event>& events) {
  constexpr int64_t kFirstSteady = 2;
  recipes::StepParts steps = recipes::StepPartsOf(events);
  if (steps.empty()) return {};
  steps.erase(steps.begin(), steps.lower_bound(std::min(kFirstSteady, steps.rbegin()->first)));
  std::map<std::string, double> times;
  std::set<int> ranks;
  for (const auto& [step, of_ranks] : steps)
    for (const auto& [rank, part] : of_ranks) {
      ranks.insert(rank);
      for (const auto& [category, seconds] : part.seconds) times[category] += seconds;
    }
  for (auto& [category, seconds] : times)
    seconds /= static_cast<double>(steps.size() * ranks.size());
  for (const auto& [step, of_ranks] : steps)
    times["wall"] += WallOf(of_ranks) / static_cast<double>(steps.size());
  return times;
}

}  // namespace torus::experiments
