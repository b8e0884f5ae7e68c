// A step's ledger as a table and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/ledger/step_work.h"

namespace torus::ledger {

// The `most` kernels of most predicted time, sums by op and of the step, and the floor.
void PrintLedger(const std::string& step, const Works& works, int most, std::ostream& out);

// Each launch with all that the model of time uses.
nlohmann::json JsonOf(const Works& works);

}  // namespace torus::ledger
