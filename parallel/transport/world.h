// World: the ranks of a run, and those of them that this process has.
//
// A run over threads has one process with all ranks (ThreadWorld, run_ranks.h); one over MPI has a
// process for each.
#pragma once

#include <functional>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

class World {
 public:
  virtual ~World() = default;
  virtual int size() const = 0;                // ranks of the whole run
  virtual std::vector<int> local() const = 0;  // ranks of this process, ascending; at least one

  // Calls fn(transport of r) for every rank r of this process, each on a thread of its own where
  // there are several, with the rank's progress counter attached and its trace lane named "rank r".
  // Returns when all these calls have returned. It waits for no other process; fn may. A transport
  // is the same object in every Run, and lives as long as the world.
  //
  // The first exception of a rank aborts the run, on every process; it is thrown again here once
  // the ranks of this process have ended. Then the world is of no more use.
  virtual void Run(const std::function<void(Transport&)>& fn) = 0;
};

}  // namespace torus::parallel
