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
// Measures the cases of collective_cases.h, with one thread per rank. The process with rank 0
// prints a row for each: microseconds per call, algorithm bandwidth (bytes / time) and bus
// bandwidth. In each round every case runs once: calls back to back between two barriers, timed on
// rank 0. Times are medians over the rounds.
void PrintCollectives(parallel::World& world, const CollectivesOptions& options, std::ostream& out);

}  // namespace torus::bench
