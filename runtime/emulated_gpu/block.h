// Runs the threads of a kernel's blocks on the CPU as fibers. A thread runs until it waits for
// others at a barrier or an exchange within its warp; then another one runs. So a missing barrier
// shows: a kernel that reads before the barrier it needs reads what the other thread has not yet
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <typeinfo>

#include "runtime/emulated_gpu/coordinates.h"

namespace torus::emulated_gpu {

struct GridShape {
  dim3 grid, block;
  size_t shared_bytes = 0;  // dynamic shared memory

  uint64_t blocks() const { return uint64_t{grid.x} * grid.y * grid.z; }
  int threads() const { return static_cast<int>(block.x * block.y * block.z); }  // of a block
};

// A launch, as an observer (queues.h) is shown it.
struct SeenLaunch {
  const std::string& op;             // its tag
  const void* kernel;                // the function
  const std::type_info& parameters;  // std::tuple of the kernel's parameters
  GridShape shape;
  std::string_view arguments;           // their bytes, each aligned, with padding cleared
  const std::function<void()>& thread;  // for the functions below
};

// Told when the threads of a block that a tool runs begin or go on, and when they end, also by an
// exception, or wait. On the thread's own stack, so what it does to the processor's state lasts.
class ThreadWatch {
 public:
  virtual ~ThreadWatch() = default;
  virtual void OnEnter(int thread) = 0;
  virtual void OnLeave(int thread) = 0;
  // What the thread does from now on only the last of a group of so many blocks does (ArrivesLast).
  // Between OnLeave and OnEnter.
  virtual void OnArrival(int thread, uint32_t blocks) = 0;
};

// Runs `thread` for every thread of the grid, block after block, on the calling thread. Each launch
// goes through blocks and threads in the opposite direction of the previous one, so a result that
// depends on their order differs between two runs. Throws InternalError naming `kernel` if not all
// threads that a barrier or exchange is for reach it. An exception in a thread ends the grid.
void RunGrid(const std::string& kernel, const GridShape& shape,
             const std::function<void()>& thread);
// Runs block number `block`, in row-major order, of such a grid alone, its threads in ascending
// order, as the last to arrive of each of its groups (ArrivesLast). `watch` may be null.
void RunBlock(const std::string& kernel, const GridShape& shape, uint64_t block,
              const std::function<void()>& thread, ThreadWatch* watch = nullptr);

// What follows is for the threads of a running grid.

// While it is alive, the calling thread executes the emulation's code for an instruction of a GPU,
// and is not watched. It may be nested.
class EmulatedCode {
 public:
  EmulatedCode();
  ~EmulatedCode();
  EmulatedCode(const EmulatedCode&) = delete;
  EmulatedCode& operator=(const EmulatedCode&) = delete;
};

// Waits until all threads of the block are here.
void WaitForBlock(std::source_location where);

struct WarpAnswer {
  uint64_t value = 0;    // the value of lane `source`
  uint32_t ballot = 0;   // one bit for each lane of the mask: its `vote`
  bool in_mask = false;  // whether lane `source` is in the mask; if not, value is 0
};

// Waits until all lanes of `mask` are here (lanes beyond the block's end do not count). All must
// pass the same mask at the same place.
WarpAnswer ExchangeInWarp(uint32_t mask, uint64_t value, int source, bool vote,
                          std::source_location where);

// Waits for the block's threads, of which the first increments the counter; of `blocks` blocks that
// do so the last sets it to zero again, and all its threads get true (runtime/cuda/arrivals.h). A
// block that runs alone leaves the counter as it is. Throws InternalError if the counter does not
// hold fewer blocks than that; so does a grid that ends before all blocks of a group have arrived.
// If a grid ends by an exception, the counters of its groups are zero.
bool ArrivesLast(uint32_t* counter, uint32_t blocks,
                 std::source_location where = std::source_location::current());

// The calling thread's lane in its warp.
int Lane();

// The block's dynamic shared memory, filled with NaN bytes when the block begins.
void* DynamicSharedMemory();

}  // namespace torus::emulated_gpu
