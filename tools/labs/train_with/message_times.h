// The messages of a student's ring in one step, read from a run's trace.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/trace.h"

namespace torus::tools::labs {

// Seconds count from the moment when the first rank begins to sum.
struct MessageTime {
  int from = 0, to = 0;
  int64_t floats = 0;
  double sent = 0;                      // when the sender called Send
  double waits_from = 0, received = 0;  // when the receiver began to wait, and got it
};

struct RankSum {
  double begin = 0, end = 0;  // from the first to the last sum of the step
};

struct SumTimes {
  int64_t step = -1;           // -1: no step was traced completely
  std::vector<RankSum> ranks;  // of each rank
  std::vector<MessageTime> messages;
};

// Takes the step whose sums take the shortest time among those that are traced completely: the one
// least disturbed by other work on the machine.
SumTimes MessagesOf(const std::vector<trace::Event>& events, int ranks);

}  // namespace torus::tools::labs
