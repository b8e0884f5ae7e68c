// World: the ranks of a run, and which of them belong to this process.
//
// A run over threads has one process with all ranks (ThreadWorld, run_ranks.h); one over MPI has a
// process for each.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "parallel/transport/transport.h"
#include "runtime/long_work.h"

namespace torus::parallel {

class World {
 public:
  virtual ~World() = default;
  virtual int size() const = 0;                // ranks of the whole run
  virtual std::vector<int> local() const = 0;  // ranks of this process, ascending; at least one

  // Calls fn(transport of r) for every rank r of this process, each on its own thread if there are
  // several, with the rank's progress counter attached and its trace lane named "rank r". Returns
  // when these calls have returned; it does not wait for other processes, though fn may. Each rank
  // gets the same transport object in every Run; it lives as long as the world.
  //
  // The first exception of a rank aborts the run in every process and is rethrown here once the
  // ranks of this process have ended. The world cannot be used after that.
  virtual void Run(const std::function<void(Transport&)>& fn) = 0;

  // A declared long work (runtime/long_work.h) of the calling thread between two Runs, such as
  // opening data: until it is destroyed, which must be before the next Run, the ranks of other
  // processes see those of this one as alive. Null if there are no other processes.
  virtual std::unique_ptr<LongWork> Alive() { return nullptr; }

  // While it exists, a signal that ends this process, such as mpirun sends when another one has
  // died, waits, so that what is being written gets whole. Null if there are no other processes.
  virtual std::shared_ptr<void> HoldOffTheEnd() { return nullptr; }
};

}  // namespace torus::parallel
