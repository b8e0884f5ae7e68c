// ProgressWatch: a thread that aborts a run over MPI in which no rank makes progress, or from one
// of whose ranks nothing is heard, for twice the timeout. Internal to the MPI transport.
//
// Deadlines are those of waits. If all ranks are blocked in something else, as a call of CUDA's, no
// rank waits. This thread also handles control messages and sends heartbeats, so that such a rank
// hears of an abort, and a process that says nothing is stopped or cut off.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <thread>
#include <vector>

#include "parallel/transport/mpi/mpi_state.h"

namespace torus::parallel {

class ProgressWatch {
 public:
  explicit ProgressWatch(MpiState& state);  // which must outlive it
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

 private:
  void Run();
  void Look();
  std::vector<int> SilentSince(MpiClock::time_point time) const;
  void GiveUp(const std::vector<int>& ranks, const char* what);

  MpiState& state_;
  const double limit_;  // seconds
  MpiClock::time_point began_ = MpiClock::now(), looked_ = began_, moved_ = began_;
  std::vector<uint64_t> seen_;  // each rank's ticks
  bool ends_ = false;           // guarded by the state's mutex
  std::condition_variable changed_;
  std::thread thread_;  // last: starts when all other members are constructed
};

}  // namespace torus::parallel
