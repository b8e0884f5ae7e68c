// A host's wait for a GPU, during which the waiting rank is alive.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/progress.h"

namespace torus {

// How long one wait counts as alive. A GPU does not say how far its work is, so work that never
// ends is found only by the deadlines that begin to run then.
inline constexpr std::chrono::minutes kLongestAliveWait{10};

// Calls `done` until it returns true, and ticks the calling thread's progress counter meanwhile
// (TickAlive: a wait is never left early, since the GPU still uses the memory). Without a counter
// nobody looks, and it returns at once. It polls without a pause at first, as most waits are short.
template <class Done>
void WaitAlive(const Done& done) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kBusy{200}, kLongestPause{100};
  ProgressCounter* const counter = CurrentProgress();
  if (counter == nullptr) return;
  const Clock::time_point begin = Clock::now();
  while (!done()) {
    const auto waited = Clock::now() - begin;
    if (waited < kBusy) continue;
    if (waited < kLongestAliveWait) TickAlive(*counter);
    std::this_thread::sleep_for(std::min<Clock::duration>(waited / 10, kLongestPause));
  }
}

}  // namespace torus
