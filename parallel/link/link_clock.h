// LinkClock: computes when the messages of one direction between two ranks leave and arrive. The
// simulator and the emulated link both use it, so predictions and runs follow the same model.
#pragma once

#include <cstdint>

#include "parallel/link/link_model.h"

namespace torus::parallel {

// In seconds since the start of the caller's clock.
struct LinkTimes {
  double begin = 0;    // when the link starts to carry the message
  double free = 0;     // when the link can take the next message
  double arrival = 0;  // when the message arrives
};

class LinkClock {
 public:
  // `from`, `to` and `seed` select the random stream of the jitter: equal ones give equal delays,
  // others give unrelated delays.
  LinkClock(const LinkModel& link, int from, int to, uint64_t seed = 0);

  // The times of the next message, of `bytes`, which its sender has ready at `ready`. The link
  // carries messages one after another, each for link.Occupied(bytes) seconds. The message arrives
  // `latency` and a random part of `jitter` later, but never before the previous one.
  LinkTimes Carry(double bytes, double ready);

 private:
  const LinkModel link_;
  uint64_t random_;  // the state of the generator
  LinkTimes last_;
};

}  // namespace torus::parallel
