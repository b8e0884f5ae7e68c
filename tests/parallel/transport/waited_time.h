// Time in which nothing else passes than what somebody waits for.
#pragma once

#include <atomic>

#include "parallel/transport/emulated_link.h"

namespace torus::parallel::testing {

// It begins at 0.
class WaitedTime : public LinkTime {
 public:
  double Now() const override { return now_; }
  void SleepUntil(double time, const Transport&) const override {
    for (double now = now_; now < time;)
      if (now_.compare_exchange_weak(now, time)) return;
  }

 private:
  mutable std::atomic<double> now_ = 0;
};

}  // namespace torus::parallel::testing
