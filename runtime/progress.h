// A rank's heartbeat, and the way to stop it. Whoever waits for the rank extends its deadline while
// this counter increases: a slow rank is not taken for a dead one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace torus {

// What a thread is in, for messages about one that does not move. Set by the thread and read by
// others; while it moves, they may read parts of two settings.
struct Activity {
  std::atomic<const char*> name{nullptr};       // a literal: "forward"; null: nothing that was said
  std::atomic<int> stage{-1}, micro_batch{-1};  // -1: none
  std::atomic<int64_t> step{-1};                // numbers below 0 say nothing

  // Called by the thread itself.
  void Set(const char* what, int64_t at_step = -1, int at_stage = -1, int at_micro_batch = -1) {
    step.store(at_step, std::memory_order_relaxed);
    stage.store(at_stage, std::memory_order_relaxed);
    micro_batch.store(at_micro_batch, std::memory_order_relaxed);
    name.store(what, std::memory_order_relaxed);
  }
};

// Belongs to one thread. Other threads may read it, and use it to stop that thread.
struct ProgressCounter {
  std::atomic<uint64_t> ticks{0};  // signs of life so far
  // Once true, every further tick calls on_tick, which may throw to stop the thread. Never reset
  // it.
  std::atomic<bool> watched{false};
  std::function<void()> on_tick;  // set before the thread begins
  // Called by TickAlive, also on other threads, for a rank that others see only by its messages.
  // Throws nothing; set before the thread begins.
  std::function<void()> on_alive;
  Activity activity;  // what the thread is in
};

// The calling thread's counter, for the functions below alone. Defined in a source and exported by
// libtorus: of an inline variable each shared library that hides it has one of its own, and a tick
// in one would not count in another.
extern constinit thread_local ProgressCounter* thread_progress;

// Attaches a counter to the calling thread (null detaches); it must outlive the thread's work.
inline void SetProgressCounter(ProgressCounter* counter) { thread_progress = counter; }
// The calling thread's; null: none.
inline ProgressCounter* CurrentProgress() { return thread_progress; }

// Says what the calling thread is in from now on, as Activity::Set; does nothing without a counter.
inline void SayActivity(const char* what, int64_t step = -1, int stage = -1, int micro_batch = -1) {
  if (thread_progress != nullptr) thread_progress->activity.Set(what, step, stage, micro_batch);
}

// Ticks the counter, and throws what on_tick throws if the thread is to stop. Every recorded op,
// forward and backward, the executor, and reading and writing of files (each slice) call it, so a
// thread stops within one of them.
inline void TickProgress() {
  ProgressCounter* const counter = thread_progress;
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
