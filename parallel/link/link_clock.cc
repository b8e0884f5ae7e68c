#include "parallel/link/link_clock.h"

#include <algorithm>

namespace torus::parallel {
namespace {

// SplitMix64 (Steele et al. 2014): advances `state` and mixes it.
uint64_t NextRandom(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A separate random stream for each direction; the states of two streams are far apart.
uint64_t StreamOf(int from, int to, uint64_t seed) {
  uint64_t state = seed;
  state = NextRandom(state) ^ static_cast<uint64_t>(from);
  state = NextRandom(state) ^ static_cast<uint64_t>(to);
  return NextRandom(state);
}

}  // namespace

LinkClock::LinkClock(const LinkModel& link, int from, int to, uint64_t seed)
    : link_(link), random_(StreamOf(from, to, seed)) {}

LinkTimes LinkClock::Carry(double bytes, double ready) {
  const double chance = static_cast<double>(NextRandom(random_) >> 11) * 0x1p-53;  // in [0, 1)
  last_.begin = std::max(last_.free, ready);
  last_.free = last_.begin + link_.Occupied(bytes);
  last_.arrival = std::max(last_.arrival, last_.free + link_.latency + link_.jitter * chance);
  return last_;
}

}  // namespace torus::parallel
