// NcclLibrary implemented by NCCL. Only in a build with --config=cuda.
#pragma once

#include <memory>

#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

// Its calls throw BrokenEnvironment, naming the call and NCCL's reason, if NCCL fails.
//
// If a GPU has more streams than connections, 8 by default, streams share its queues, and one that
// waits for a message blocks others. So a program with several ranks should have 32 of them in its
// environment before its first use of a GPU, which reads it: CUDA_DEVICE_MAX_CONNECTIONS=32. Each
// program of tools sets it where it begins; an application does so itself.
std::unique_ptr<NcclLibrary> RealNccl();

}  // namespace torus::parallel
