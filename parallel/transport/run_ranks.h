// RunRanks: runs a function on one thread per rank, and stops all of them when one fails.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parallel/transport/in_process.h"
#include "parallel/transport/world.h"
#include "runtime/error.h"

namespace torus::parallel {

struct RunRanksOptions {
  // Grace period: seconds that the other ranks have to stop once one has failed. They stop at the
  // end of the current op, so it must cover the longest op.
  double grace = 30;
};

// Thrown if a rank's thread has not stopped within the grace period: nothing can end a thread that
// does not come back from what it is in. The message names the rank, what it was last known to be
// in, and why the run was to stop. The thread is left behind. If it ever comes back, it stops at
// its next wait or progress tick.
class StuckRank : public BrokenEnvironment {
 public:
  using BrokenEnvironment::BrokenEnvironment;
};

// What RunRanks calls, with the message, before it throws StuckRank. A program that is to end in
// its place (by _Exit, since ordinary ends wait for threads) sets it once, before it starts any
// run; a library and an application that goes on set none. Empty: none.
void OnStuckRank(std::function<void(const std::string& message)> end);

// Calls fn(transport of r) on its own thread for each rank r of `world`, with the rank's progress
// counter attached, its trace lane named "rank r", and the caller's RunContext. Returns when all
// calls have returned.
//
// The first exception aborts the world, so that the other ranks stop too, and is rethrown here once
// they have. The world is also aborted if no running rank makes progress for twice its timeout;
// this finds a rank that hangs although no other waits for it. Throws StuckRank if a thread does
// not stop within the grace period; the thread keeps `world` and a copy of `fn`, and what `fn`
// refers to must stay valid for it. Throws BrokenEnvironment if a thread cannot be started, after
// those already started have ended.
void RunRanks(InProcessWorld& world, const std::function<void(Transport&)>& fn,
              RunRanksOptions options = {});

// The same, in a new InProcessWorld.
void RunRanks(int ranks, const std::function<void(Transport&)>& fn);

// A world whose ranks are all threads of this process.
class ThreadWorld : public World {
 public:
  // Throws BadInput as InProcessWorld does.
  explicit ThreadWorld(int size, InProcessOptions options = {}, RunRanksOptions run = {})
      : world_(size, options), run_(run) {}

  int size() const override { return world_.size(); }
  std::vector<int> local() const override;
  void Run(const std::function<void(Transport&)>& fn) override { RunRanks(world_, fn, run_); }

 private:
  InProcessWorld world_;
  const RunRanksOptions run_;
};

}  // namespace torus::parallel
