// The main of every experiment.
#pragma once

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

// Reads the command line, runs what is missing, prints the page's text and writes NAME.html,
// NAME.md and NAME.csv into --out. Returns the program's status (tools::RunMain): 130 or 143 if a
// signal ended it; finished runs are kept then.
int ExperimentMain(const Experiment& experiment, int argc, const char* const* argv);

}  // namespace torus::experiments
