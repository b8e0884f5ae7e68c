// Sums up the trace of a run: the seconds of each rank in each step, by category.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/trace.h"

namespace torus::recipes {

// One rank in one step.
struct StepPart {
  std::map<std::string, double> seconds;  // by category
  int64_t begin_ns = 0, end_ns = 0;       // begin of its first event, end of its last

  double Of(const std::string& category) const;  // 0 if it has none
};

// By step, then by rank.
using StepParts = std::map<int64_t, std::map<int, StepPart>>;

// Uses the events of steps in the categories "forward", "backward", "transfer", "reduce",
// "optimizer", "data" and "idle", which do not overlap on a rank. All other traced events lie
// within one of these and are ignored. In the category "data", where events are nested, only the
// outer event named "data" counts.
StepParts StepPartsOf(const std::vector<trace::Event>& events);

}  // namespace torus::recipes
