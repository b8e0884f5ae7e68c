// Counts what a launch does from a few of its blocks.
#pragma once

#include <vector>

#include "runtime/emulated_gpu/block.h"
#include "tools/ledger/work.h"

namespace torus::ledger {

// Of "ForEachKernel<...>(long, CopyWalk<BFloat16, float>)" the "CopyWalk<BFloat16, float>": the
// types of the kernel's parameters, without its counts and namespaces.
std::string KernelName(const std::type_info& parameters);

// Traces up to four blocks, the last among them; the others count as the mean of those before it.
// Where blocks arrive in groups (runtime/cuda/arrivals.h), what the last of a group then does comes
// as a further entry, of as many blocks as there are groups and of no launch. Throws InternalError
// if kernels are not instrumented.
std::vector<Work> WorkOf(const emulated_gpu::SeenLaunch& launch);

}  // namespace torus::ledger
