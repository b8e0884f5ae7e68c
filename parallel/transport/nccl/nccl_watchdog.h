// NcclWatchdog: aborts a rank's communicators once its run has been aborted. The NCCL transport's
// own part.
//
// A rank's thread finds an aborted run where it waits for a message. Where it waits for a GPU
// instead, whose stream waits for a message that nobody will send, only another thread can end that
// message, and with it the wait.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

class NcclWatchdog {
 public:
  explicit NcclWatchdog(const Transport& transport);
  ~NcclWatchdog();
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;

  // `comm` must outlive this.
  void Watch(NcclComm& comm);

 private:
  void Run();
  bool IsAborted() const;

  const Transport& transport_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<NcclComm*> comms_;
  bool ends_ = false;
  std::thread thread_;  // last: it begins when all else is there
};

}  // namespace torus::parallel
