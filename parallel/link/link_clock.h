// LinkClock: when the messages of one direction between two ranks leave and arrive. The simulator
// and the emulated link both ask it, so that a prediction and a run mean one thing.
#pragma once

#include <cstdint>

#include "parallel/link/link_model.h"

namespace torus::parallel {

// Seconds, counted from where the caller's clock begins.
struct LinkTimes {
  double begin = 0;    // when the link begins to carry it
  double free = 0;     // when the link can take the next message
  double arrival = 0;  // when this one is there
};

class LinkClock {
 public:
  // `from`, `to` and `seed` name the stream of the jitter: equal ones give equal delays, other ones
  // unrelated ones.
  LinkClock(const LinkModel& link, int from, int to, uint64_t seed = 0);

  // The next message, of `bytes`, which its sender has ready at `ready`. The link carries one after
  // the other, each for link.Occupied(bytes); it is there `latency` and a part of `jitter` later,
  // but never before the one sent before it.
  LinkTimes Carry(double bytes, double ready);

 private:
  const LinkModel link_;
  uint64_t random_;  // the state of the generator
  LinkTimes last_;
};

}  // namespace torus::parallel
