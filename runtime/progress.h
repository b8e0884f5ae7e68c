// A rank's sign of life, and where it learns that the run has been stopped. Whoever waits for the
// rank renews its deadline while this counter moves: slow is not dead.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace torus {

// Of one thread; others may read it, and stop the thread by it.
struct ProgressCounter {
  std::atomic<uint64_t> ticks{0};
  // Once true, every further tick calls on_tick, which may throw: so a thread is stopped. It cannot
  // be taken back.
  std::atomic<bool> watched{false};
  std::function<void()> on_tick;  // set before the thread begins
};

namespace internal {
inline thread_local ProgressCounter* progress = nullptr;
}

// Attaches a counter to the calling thread (null detaches); it must outlive the thread's work.
inline void SetProgressCounter(ProgressCounter* counter) { internal::progress = counter; }

// Says "alive", and throws what on_tick does where the thread is to stop. Called by every
// recorded op, forward and backward, and by the executor, so that a thread stops within one op.
inline void TickProgress() {
  ProgressCounter* const counter = internal::progress;
  if (counter == nullptr) return;
  counter->ticks.fetch_add(1, std::memory_order_relaxed);
  if (counter->watched.load(std::memory_order_acquire)) [[unlikely]]
    counter->on_tick();
}

}  // namespace torus
