// Runs the ranks of one test: starts their processes, forwards their messages until all are done or
// the first error, and ends the processes.
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
  std::string failure;  // empty: all ranks have a result, and every message was received
  bool out_of_time = false;
  std::vector<RankRecord> ranks;
};

// Runs one rank for each task. Throws Stopped, with all ranks ended, if a signal requests the end.
GroupRun RunRanks(const std::string& program, const std::vector<RankTask>& tasks, Link link,
                  const Limits& limits);

}  // namespace torus::tools::labs
