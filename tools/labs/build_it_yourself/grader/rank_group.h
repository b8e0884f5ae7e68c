// Runs the ranks of one test: starts their processes, forwards what they say until all are done or
// the first thing goes wrong, and ends them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/labs/build_it_yourself/grader/rank_process.h"
#include "tools/labs/build_it_yourself/grader/switchboard.h"

namespace torus::tools::labs {

struct RankTask {
  std::vector<int64_t> numbers;
  std::vector<float> values;
};

struct GroupRun {
  std::string failure;  // empty: all ranks came to their result, and nothing was left unread
  bool out_of_time = false;
  std::vector<RankRecord> ranks;
  std::string printed;  // by all of them, the first few thousand characters
};

// A task for each rank.
GroupRun RunRanks(const std::string& program, const std::vector<RankTask>& tasks, Link link,
                  const Limits& limits);

}  // namespace torus::tools::labs
