#include "recipes/report/step_parts.h"

#include <algorithm>
#include <array>

namespace torus::recipes {
namespace {

constexpr std::array kCategories = {"forward",   "backward", "transfer", "reduce",
                                    "optimizer", "data",     "idle"};

bool Counts(const trace::Event& event) {
  return event.step >= 0 && std::ranges::count(kCategories, event.category) > 0 &&
         (event.category != "data" || event.name == "data");
}

void Add(const trace::Event& event, StepPart& part) {
  const bool first = part.seconds.empty();
  part.seconds[event.category] += 1e-9 * static_cast<double>(event.end_ns - event.begin_ns);
  part.begin_ns = first ? event.begin_ns : std::min(part.begin_ns, event.begin_ns);
  part.end_ns = std::max(part.end_ns, event.end_ns);
}

}  // namespace

double StepPart::Of(const std::string& category) const {
  const auto found = seconds.find(category);
  return found == seconds.end() ? 0 : found->second;
}

StepParts StepPartsOf(const std::vector<trace::Event>& events) {
  StepParts parts;
  for (const trace::Event& event : events)
    if (Counts(event)) Add(event, parts[event.step][event.rank]);
  return parts;
}

}  // namespace torus::recipes
