// Checks that all ranks see the same folder. Internal to the trainer.
#pragma once

#include <exception>
#include <string>

#include "parallel/collectives/communicator.h"

namespace torus::parallel {

// All ranks call it together, each with the folder into which the ranks will write. Each writes a
// small file, reads those of all ranks, and removes its own. Returns null if that succeeded;
// otherwise all ranks return the error of the first rank that failed, which names the rank, its
// host and the rank whose file it does not see (DoTogether).
[[nodiscard]] std::exception_ptr CheckSharedFolder(Communicator& world, const std::string& folder);

}  // namespace torus::parallel
