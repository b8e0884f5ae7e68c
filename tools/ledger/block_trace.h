// The accesses to the GPU's memory that one block of a kernel makes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/emulated_gpu/block.h"

namespace torus::ledger {

// One thread's access. Those of a warp with the same place and turn are one instruction of it.
struct TracedAccess {
  uint64_t address = 0;
  uint32_t place = 0;  // which load or store of the code, counted from 0
  uint32_t turn = 0;   // how often the thread had executed it before
  uint32_t bytes = 0;
  uint16_t thread = 0;
  bool write = false;
};

// What the block does until it arrives as one of a group of blocks, or after it has and was the
// last (runtime/cuda/arrivals.h).
struct BlockTrace {
  uint32_t group = 1;                  // as the last of how many blocks it does this
  std::vector<TracedAccess> accesses;  // at most kMostTraced of each thread
  uint64_t made = 0;                   // all of them
  bool heard = false;                  // of any access, also to other memory
  double scale() const {
    return accesses.empty() ? 0 : static_cast<double>(made) / static_cast<double>(accesses.size());
  }
};

inline constexpr uint32_t kMostTraced = 1024;

// Runs block number `block` of the launch, which writes to the GPU's memory as it would, as the
// last of its groups: one trace, and one more for each time that it arrives.
std::vector<BlockTrace> TraceBlock(const emulated_gpu::SeenLaunch& launch, uint64_t block);

}  // namespace torus::ledger
