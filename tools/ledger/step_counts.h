// What is held of a step, so that it does not grow: the list that a test compares with.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

#include "tools/ledger/step_work.h"

namespace torus::ledger {

// In the order of a line: "gpt2:4x256 840 9000000000 9500000000".
struct StepCounts {
  int64_t launches = 0;
  int64_t must = 0, moved = 0;  // bytes
};

StepCounts CountsOf(const Works& works);

void PrintCounts(const std::string& step, const StepCounts& counts, std::ostream& out);
// By step. Throws BadInput for a line that is not as above.
std::map<std::string, StepCounts> ReadCounts(std::istream& in);

}  // namespace torus::ledger
