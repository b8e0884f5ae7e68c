// Time and bandwidth of collectives.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "parallel/transport/world.h"

namespace torus::bench {

struct CollectivesOptions {
  std::vector<int64_t> bytes = {1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
  std::string filter;  // only cases whose name holds it
  int rounds = 5;
};

// Prints the head of a Markdown table.
void PrintCollectivesHead(std::ostream& out);
// Prints rows of the cases of collective_cases.h, one thread a rank, where this process has rank 0:
// microseconds a call, algorithm bandwidth (bytes over time) and bus bandwidth. A time is the
// median of the rounds, in each of which all cases have their turn: calls back to back between two
// barriers, on rank 0's clock.
void PrintCollectives(parallel::World& world, const CollectivesOptions& options, std::ostream& out);

}  // namespace torus::bench
