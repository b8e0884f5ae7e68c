// A rank's sign of life. Whoever waits for the rank renews its deadline while this counter moves:
// slow is not dead.
#pragma once

#include <atomic>
#include <cstdint>

namespace torus {

using ProgressCounter = std::atomic<uint64_t>;

namespace internal {
inline thread_local ProgressCounter* progress = nullptr;
}

// Attaches a counter to the calling thread (null detaches); it must outlive the thread's work.
inline void SetProgressCounter(ProgressCounter* counter) { internal::progress = counter; }

// Says "alive". Called by every recorded op, forward and backward, and by the executor.
inline void TickProgress() {
  if (internal::progress != nullptr) internal::progress->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace torus
