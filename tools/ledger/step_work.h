// The work of a training step that the benchmark has.
#pragma once

#include <string>

#include "tools/ledger/step_ledger.h"

namespace torus::ledger {

// One step of MODEL:BATCHxSIZE as //tools/bench:cuda_bench takes it, launched as CUDA graphs, after
// steps in which plans are made. Throws BadInput for a malformed text, an unknown model or
// precision, and for a build whose kernels are not instrumented. Gives back the GPU's cached
// memory, so that steps of one process do not differ by what earlier ones left there.
Works CountStep(StepLedger& ledger, const std::string& step, const std::string& precision);

}  // namespace torus::ledger
