// ArrivalWatch: a deadline for MPI_Init, which otherwise waits forever for a process that never
// calls it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace torus::parallel {

// Create it before MPI_Init and destroy it when MPI_Init has returned. If that takes longer than
// `seconds`, a line on stderr says how many of this host's processes have come, and which, and the
// process ends with status 1; mpirun then ends the others.
//
// Processes of one host see each other by files in the folder that the launcher made for the run
// (PMIX_SERVER_TMPDIR; it removes the folder at the end). Without such a folder nobody is named.
class ArrivalWatch {
 public:
  explicit ArrivalWatch(double seconds);
  ~ArrivalWatch();
  ArrivalWatch(const ArrivalWatch&) = delete;
  ArrivalWatch& operator=(const ArrivalWatch&) = delete;

 private:
  void Watch(double seconds);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool arrived_ = false;
  std::thread thread_;  // none if this process was started alone
};

}  // namespace torus::parallel
