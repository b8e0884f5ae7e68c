#include "tools/ledger/step_counts.h"

#include <fmt/format.h>

#include <cmath>
#include <istream>
#include <ostream>
#include <sstream>

#include "runtime/error.h"

namespace torus::ledger {

StepCounts CountsOf(const Works& works) {
  StepCounts counts;
  double must = 0, moved = 0;
  for (const auto& work : works) {
    counts.launches += work->launches;
    must += work->must();
    moved += work->moved;
  }
  counts.must = std::llround(must);
  counts.moved = std::llround(moved);
  return counts;
}

void PrintCounts(const std::string& step, const StepCounts& counts, std::ostream& out) {
  out << fmt::format("{} {} {} {}\n", step, counts.launches, counts.must, counts.moved);
}

std::map<std::string, StepCounts> ReadCounts(std::istream& in) {
  std::map<std::string, StepCounts> all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string step;
    StepCounts counts;
    words >> step >> counts.launches >> counts.must >> counts.moved;
    Require(!words.fail() && words.eof(), "ledger",
            "a line of counts must be STEP LAUNCHES BYTES BYTES, got '{}'", line);
    all[step] = counts;
  }
  return all;
}

}  // namespace torus::ledger
