#include "tools/experiments/common/steady_times.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace torus::experiments {
namespace {

// Whatever else was traced lies within one of them.
constexpr std::array kKinds = {"forward",   "backward", "transfer", "reduce",
                               "optimizer", "data",     "idle"};

// "data" has events within events: one of each step is the whole.
bool Counts(const trace::Event& event) {
  return event.step >= 0 && std::ranges::count(kKinds, event.category) > 0 &&
         (event.category != "data" || event.name == "data");
}

double Seconds(int64_t ns) { return 1e-9 * static_cast<double>(ns); }

struct Span {
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
};

}  // namespace

std::map<std::string, double> SteadyTimes(const std::vector<trace::Event>& events) {
  constexpr int64_t kFirstSteady = 2;
  int64_t last = -1;
  for (const trace::Event& event : events) last = std::max(last, event.step);
  const int64_t from = std::min(kFirstSteady, last);
  std::map<std::string, double> times;
  std::map<int64_t, Span> steps;
  std::set<int> ranks;
  for (const trace::Event& event : events) {
    if (event.step < from || !Counts(event)) continue;
    times[event.category] += Seconds(event.end_ns - event.begin_ns);
    Span& span = steps[event.step];
    span = {std::min(span.begin, event.begin_ns), std::max(span.end, event.end_ns)};
    ranks.insert(event.rank);
  }
  for (auto& [kind, seconds] : times) seconds /= static_cast<double>(steps.size() * ranks.size());
  for (const auto& [step, span] : steps)
    times["wall"] += Seconds(span.end - span.begin) / static_cast<double>(steps.size());
  return times;
}

}  // namespace torus::experiments
