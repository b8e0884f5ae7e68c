// What the trace of a run says of each step: the seconds of each rank, by what it did.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/trace.h"

namespace torus::recipes {

// Of one rank in one step.
struct StepPart {
  std::map<std::string, double> seconds;  // by category
  int64_t begin_ns = 0, end_ns = 0;       // of its first event, and of its last

  double Of(const std::string& category) const;  // 0 where it has none
};

// By step, then by rank.
using StepParts = std::map<int64_t, std::map<int, StepPart>>;

// Of the events of steps in the categories "forward", "backward", "transfer", "reduce",
// "optimizer", "data" and "idle", which lie beside each other. Whatever else was traced lies within
// one of them and is left out; of "data", which has events within events, the one of that name is
// the whole.
StepParts StepPartsOf(const std::vector<trace::Event>& events);

}  // namespace torus::recipes
