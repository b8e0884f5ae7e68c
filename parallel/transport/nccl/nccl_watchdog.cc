#include "parallel/transport/nccl/nccl_watchdog.h"

#include <chrono>
#include <exception>

namespace torus::parallel {

NcclWatchdog::NcclWatchdog(const Transport& transport)
    : transport_(transport), thread_([this] { Run(); }) {}

NcclWatchdog::~NcclWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void NcclWatchdog::Watch(NcclComm& comm) {
  const std::lock_guard lock(mutex_);
  comms_.push_back(&comm);
}

bool NcclWatchdog::IsAborted() const try {
  transport_.ThrowIfAborted();
  return false;
} catch (const std::exception&) {
  return true;
}

// Communicators that are added after the abort are ended by the next look.
void NcclWatchdog::Run() {
  constexpr std::chrono::milliseconds kLook{100};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [this] { return ends_; })) {
    if (!IsAborted()) continue;
    for (NcclComm* comm : comms_) comm->Abort();
    comms_.clear();
  }
}

}  // namespace torus::parallel
