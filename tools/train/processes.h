// The processes of a run that mpirun started. Each runs this program and has one rank.
#pragma once

#include <cstdint>
#include <memory>

#include "parallel/transport/world.h"

namespace torus::tools {

// Whether this is the only process, or the first of those that mpirun (or another PMIx launcher,
// such as srun) started. Does not initialize MPI.
bool IsFirstProcess();

// The world of these processes; null if there is only one. Throws BadInput unless there are as many
// processes as the run's `ranks`, and the errors of MpiWorld. `timeout`: seconds without progress
// until a wait fails.
std::unique_ptr<parallel::World> StartedWorld(int64_t ranks, double timeout);

}  // namespace torus::tools
