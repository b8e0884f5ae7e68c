// NcclWatchdog: a thread beside the rank's that launches what has its turn, and ends a rank's
// communicators when they, or the run, have failed (NcclLaunches). Internal to the NCCL transport.
//
// The rank's thread may wait for a message of the CPU's, for which another rank needs a launch of
// this one first, or be blocked in a call of CUDA's behind a stream that waits for a message that
// nobody will send.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "parallel/transport/nccl/nccl_launches.h"

namespace torus::parallel {

class NcclWatchdog {
 public:
  // `launches` must outlive this. It is looked after at least 16 times in each `timeout` (seconds).
  NcclWatchdog(NcclLaunches& launches, double timeout);
  ~NcclWatchdog();
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;

 private:
  void Run(double timeout);

  NcclLaunches& launches_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;  // last: starts when all other members are constructed
};

}  // namespace torus::parallel
