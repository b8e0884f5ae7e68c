// A rank's heartbeat, and the way to stop it. Whoever waits for the rank extends its deadline while
// this counter increases: a slow rank is not taken for a dead one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace torus {

// Belongs to one thread. Other threads may read it, and use it to stop that thread.
struct ProgressCounter {
  std::atomic<uint64_t> ticks{0};
  // Once true, every further tick calls on_tick, which may throw to stop the thread. Never reset
  // it.
  std::atomic<bool> watched{false};
  std::function<void()> on_tick;  // set before the thread begins
  // Called by TickAlive, also on other threads, for a rank that others see only by its messages.
  // Throws nothing; set before the thread begins.
  std::function<void()> on_alive;
};

namespace internal {
inline thread_local ProgressCounter* progress = nullptr;
}

// Attaches a counter to the calling thread (null detaches); it must outlive the thread's work.
inline void SetProgressCounter(ProgressCounter* counter) { internal::progress = counter; }
// The calling thread's; null: none.
inline ProgressCounter* CurrentProgress() { return internal::progress; }

// Ticks the counter, and throws what on_tick throws if the thread is to stop. Every recorded op,
// forward and backward, the executor, and reading and writing of files (each slice) call it, so a
// thread stops within one of them.
inline void TickProgress() {
  ProgressCounter* const counter = internal::progress;
  if (counter == nullptr) return;
  counter->ticks.fetch_add(1, std::memory_order_relaxed);
  if (counter->watched.load(std::memory_order_acquire)) [[unlikely]]
    counter->on_tick();
}

// Ticks a counter where its thread must not be stopped, or from another thread. Throws nothing.
inline void TickAlive(ProgressCounter& counter) {
  counter.ticks.fetch_add(1, std::memory_order_relaxed);
  if (counter.on_alive) counter.on_alive();
}

}  // namespace torus
