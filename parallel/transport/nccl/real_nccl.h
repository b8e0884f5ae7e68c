// NCCL itself. Only in a build with --config=cuda.
#pragma once

#include <memory>

#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

// Errors of its calls are BrokenEnvironment that name the call and NCCL's reason.
std::unique_ptr<NcclLibrary> RealNccl();

}  // namespace torus::parallel
