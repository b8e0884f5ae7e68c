// What one thread of a kernel does, instruction by instruction, as the host's processor executes
// it: the emulation has no code of a GPU. Needs an x86-64.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/emulated_gpu/block.h"

namespace torus::ledger {

struct ThreadSteps {
  // Instructions, each by its weight (instruction.h).
  double instructions = 0;
  // How often the thread waits for its loads, one time after another. Loads overlap unless a store
  // or a branch stands between them; so do those of four turns of a loop without either, which
  // nvcc unrolls four times.
  double waits = 0;
};

// Runs block number `block` as the last of its groups and follows thread `thread` of it for some
// thousands of instructions; what comes between is taken to be like those before. Until it arrives
// as one of a group of blocks, and from each such arrival on (runtime/cuda/arrivals.h).
std::vector<ThreadSteps> FollowThread(const emulated_gpu::SeenLaunch& launch, uint64_t block,
                                      int thread);

}  // namespace torus::ledger
