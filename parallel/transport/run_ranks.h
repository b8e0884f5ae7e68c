// RunRanks: runs a function on one thread for each rank, and stops all of them when one fails.
#pragma once

#include <functional>
#include <vector>

#include "parallel/transport/in_process.h"
#include "parallel/transport/world.h"

namespace torus::parallel {

struct RunRanksOptions {
  // Seconds that ranks have to stop once one has failed. They stop at the next op's end, so it must
  // cover the longest op.
  double grace = 30;
};

// Calls fn(transport of r) on a thread for each rank r of `world`, with the rank's progress counter
// attached and its trace lane named "rank r". Returns when all calls have returned.
//
// The first exception aborts the world, so that the other ranks stop too; it is thrown again here
// once they have. BrokenEnvironment where a thread cannot be started; the threads that were started
// have ended then. The world is also aborted when no running rank makes progress for twice its
// timeout, which finds a rank that hangs although no other waits for it. A thread that does not
// stop within the grace cannot be stopped: the program then ends by _Exit(1), after a line on
// stderr that names the rank and the reason.
void RunRanks(InProcessWorld& world, const std::function<void(Transport&)>& fn,
              RunRanksOptions options = {});

// The same in a world of its own.
void RunRanks(int ranks, const std::function<void(Transport&)>& fn);

// A world whose ranks are all threads of this process.
class ThreadWorld : public World {
 public:
  // BadInput as InProcessWorld.
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
