#include "tools/labs/questions/step_times.h"

#include <algorithm>
#include <map>

#include "recipes/report/step_parts.h"
#include "runtime/error.h"

namespace torus::labs {
namespace {

using OfRanks = std::map<int, recipes::StepPart>;

double ComputeOf(const recipes::StepPart& part) {
  return part.Of("forward") + part.Of("backward") + part.Of("optimizer");
}

double CommunicationOf(const recipes::StepPart& part) {
  return part.Of("reduce") + part.Of("idle") + part.Of("transfer");
}

bool IsWhole(const OfRanks& of_ranks, int64_t ranks) {
  return std::ranges::count_if(of_ranks, [](const auto& rank) {
           return rank.second.seconds.contains("backward");
         }) == ranks;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

StepTimes StepTimesOf(const std::vector<trace::Event>& events, int64_t ranks) {
  std::vector<double> compute, communicate, reduce;
  for (const auto& [step, of_ranks] : recipes::StepPartsOf(events)) {
    if (!IsWhole(of_ranks, ranks)) continue;
    double computes = 0, communicates = 0, least = of_ranks.begin()->second.Of("reduce");
    for (const auto& [rank, part] : of_ranks) {
      computes += ComputeOf(part);
      communicates += CommunicationOf(part);
      least = std::min(least, part.Of("reduce"));
    }
    compute.push_back(computes / static_cast<double>(ranks));
    communicate.push_back(communicates / static_cast<double>(ranks));
    reduce.push_back(least);
  }
  Require(!compute.empty(), "labs", "the trace holds no whole step of {} ranks", ranks);
  return {Median(compute), Median(communicate), Median(reduce), std::ssize(compute)};
}

}  // namespace torus::labs
