#include "tools/labs/questions/step_times.h"

#include <algorithm>
#include <map>

#include "runtime/error.h"

namespace torus::labs {
namespace {

struct Seconds {
  double compute = 0, reduce = 0, wait = 0;
  bool whole = false;  // has a backward
};

// By step, then by rank.
using Steps = std::map<int64_t, std::map<int, Seconds>>;

void Add(const trace::Event& event, Seconds& of) {
  const double seconds = static_cast<double>(event.end_ns - event.begin_ns) * 1e-9;
  if (event.category == "forward" || event.category == "backward" || event.category == "optimizer")
    of.compute += seconds;
  if (event.category == "reduce") of.reduce += seconds;
  if (event.category == "idle" || event.category == "transfer") of.wait += seconds;
  of.whole = of.whole || event.category == "backward";
}

Steps StepsOf(const std::vector<trace::Event>& events) {
  Steps steps;
  for (const trace::Event& event : events)
    if (event.step >= 0) Add(event, steps[event.step][event.rank]);
  return steps;
}

bool IsWhole(const std::map<int, Seconds>& of_ranks, int64_t ranks) {
  return std::ranges::count_if(of_ranks, [](const auto& rank) { return rank.second.whole; }) ==
         ranks;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

StepTimes StepTimesOf(const std::vector<trace::Event>& events, int64_t ranks) {
  std::vector<double> compute, communicate, reduce;
  for (const auto& [step, of_ranks] : StepsOf(events)) {
    if (!IsWhole(of_ranks, ranks)) continue;
    Seconds sum;
    double least = of_ranks.begin()->second.reduce;
    for (const auto& [rank, of] : of_ranks) {
      sum.compute += of.compute;
      sum.wait += of.reduce + of.wait;
      least = std::min(least, of.reduce);
    }
    compute.push_back(sum.compute / static_cast<double>(ranks));
    communicate.push_back(sum.wait / static_cast<double>(ranks));
    reduce.push_back(least);
  }
  Require(!compute.empty(), "labs", "the trace holds no whole step of {} ranks", ranks);
  return {Median(compute), Median(communicate), Median(reduce), std::ssize(compute)};
}

}  // namespace torus::labs
