// The processes of a run that mpirun started: each is this program, and has a rank.
#pragma once

#include <cstdint>
#include <memory>

#include "parallel/transport/world.h"

namespace torus::tools {

// Whether this is the process that speaks for all: the only one, or the first of those that mpirun
// (or another launcher that speaks PMIx, as srun) started. It begins no MPI.
bool IsFirstProcess();

// Null where nobody started several. BadInput unless there are as many as the run's `ranks`, and
// for the other errors of MpiWorld. `timeout`: seconds without progress until a wait fails.
std::unique_ptr<parallel::World> StartedWorld(int64_t ranks, double timeout);

}  // namespace torus::tools
