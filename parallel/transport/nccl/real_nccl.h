// NcclLibrary implemented by NCCL. Only in a build with --config=cuda.
#pragma once

#include <memory>

#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

// Its calls throw BrokenEnvironment, naming the call and NCCL's reason, if NCCL fails.
std::unique_ptr<NcclLibrary> RealNccl();

}  // namespace torus::parallel
