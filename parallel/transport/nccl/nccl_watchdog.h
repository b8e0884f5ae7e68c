// NcclWatchdog: aborts a rank's communicators once its run has been aborted. Internal to the NCCL
// transport.
//
// A rank's thread notices an aborted run when it waits for a message. If it waits for a GPU whose
// stream waits for a message that nobody will send, only another thread can end that message, and
// so the wait.
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
  std::thread thread_;  // last: starts when all other members are constructed
};

}  // namespace torus::parallel
