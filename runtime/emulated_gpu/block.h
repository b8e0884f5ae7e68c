// The threads of a kernel's blocks, run on the CPU as fibers: a thread runs until it waits for
// others at a barrier or an exchange within its warp, and then another runs. So barriers are real:
// what a kernel reads before the barrier that it needs is what the other thread had not yet
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

#include "runtime/emulated_gpu/coordinates.h"

namespace torus::emulated_gpu {

struct GridShape {
  dim3 grid, block;
  size_t shared_bytes = 0;  // of dynamic shared memory
};

// Runs `thread` for every thread of the grid, the blocks one after the other on the calling thread.
// Each launch goes through blocks and threads in the opposite direction of the one before, so that
// a result which depends on their order differs between two runs. InternalError that names `kernel`
// where a barrier or an exchange is not reached by all threads that it is for; an exception of a
// thread ends the grid.
void RunGrid(const std::string& kernel, const GridShape& shape,
             const std::function<void()>& thread);

// What follows is for the threads of a running grid.

// Until all threads of the block are there.
void WaitForBlock(std::source_location where);

struct WarpAnswer {
  uint64_t value = 0;    // what lane `source` brought
  uint32_t ballot = 0;   // bit of each lane of the mask whose `vote` holds
  bool in_mask = false;  // whether `source` is a lane of the mask; if not, value is 0
};

// Until all lanes of `mask` are there (lanes beyond the block's end do not count). All must give
// the same mask at the same place.
WarpAnswer ExchangeInWarp(uint32_t mask, uint64_t value, int source, bool vote,
                          std::source_location where);

// The calling thread's lane in its warp.
int Lane();

// The block's dynamic shared memory, filled with NaN bytes when the block begins.
void* DynamicSharedMemory();

}  // namespace torus::emulated_gpu
