// The messages of a student's ring in one step, from a run's trace.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/trace.h"

namespace torus::tools::labs {

// Seconds are from the moment at which the first rank begins to sum.
struct MessageTime {
  int from = 0, to = 0;
  int64_t floats = 0;
  double sent = 0;                      // when it was handed to the wire
  double waits_from = 0, received = 0;  // on the other rank
};

struct RankSum {
  double begin = 0, end = 0;  // all sums of the step
};

struct SumTimes {
  int64_t step = -1;           // none was traced whole
  std::vector<RankSum> ranks;  // each one's time in all its sums of the step
  std::vector<MessageTime> messages;
};

// Of the steps that are traced whole, the one whose sums take the shortest time: on a machine that
// does other work besides, what disturbs least.
SumTimes MessagesOf(const std::vector<trace::Event>& events, int ranks);

}  // namespace torus::tools::labs
