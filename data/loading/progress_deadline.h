// ProgressDeadline: the deadline of a wait for another thread, extended whenever that thread's
// counter has increased. It reads no clock: whoever waits says what time it is.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "runtime/progress.h"

namespace torus::data {

class ProgressDeadline {
 public:
  using Clock = std::chrono::steady_clock;

  // The wait begins at `now` and may last `seconds`, at least a millisecond, without progress.
  ProgressDeadline(const ProgressCounter& counter, double seconds, Clock::time_point now)
      : counter_(counter),
        span_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(std::max(seconds, 1e-3)))),
        deadline_(now + span_) {}

  // Whether the counter has increased since the last call; the deadline is then `now` + seconds.
  bool Renew(Clock::time_point now) {
    const uint64_t ticks = counter_.ticks.load(std::memory_order_relaxed);
    if (ticks == seen_) return false;
    seen_ = ticks;
    deadline_ = now + span_;
    return true;
  }
  bool Over(Clock::time_point now) const { return now >= deadline_; }

  // When to look at the counter again: soon, so that the waiting thread can tick its own.
  Clock::time_point NextTurn(Clock::time_point now) const {
    return std::min(deadline_, now + std::chrono::milliseconds(100));
  }

 private:
  const ProgressCounter& counter_;
  const Clock::duration span_;
  uint64_t seen_ = counter_.ticks.load(std::memory_order_relaxed);
  Clock::time_point deadline_;
};

}  // namespace torus::data
