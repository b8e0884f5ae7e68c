// RunRanks: runs a function on one thread per rank, and stops all of them when one fails.
#pragma once

#include <functional>
#include <vector>

#include "parallel/transport/in_process.h"
#include "parallel/transport/world.h"

namespace torus::parallel {

struct RunRanksOptions {
  // Grace period: seconds that the other ranks have to stop once one has failed. They stop at the
  // end of the current op, so it must cover the longest op.
  double grace = 30;
};

// Calls fn(transport of r) on its own thread for each rank r of `world`, with the rank's progress
// counter attached and its trace lane named "rank r". Returns when all calls have returned.
//
// The first exception aborts the world, so that the other ranks stop too, and is rethrown here once
// they have. The world is also aborted if no running rank makes progress for twice its timeout;
// this finds a rank that hangs although no other waits for it. A thread that does not stop within
// the grace period cannot be stopped: the program then writes a line to stderr that names the rank
// and the reason, and ends by _Exit(1). Throws BrokenEnvironment if a thread cannot be started,
// after those already started have ended.
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
