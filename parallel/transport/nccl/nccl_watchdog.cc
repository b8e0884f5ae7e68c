#include "parallel/transport/nccl/nccl_watchdog.h"

#include <algorithm>
#include <chrono>
#include <exception>

namespace torus::parallel {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kPause{200};
constexpr std::chrono::duration<double> kLongestLook{0.1};

}  // namespace

NcclWatchdog::NcclWatchdog(NcclLaunches& launches, double timeout)
    : launches_(launches), thread_([this, timeout] { Run(timeout); }) {}

NcclWatchdog::~NcclWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void NcclWatchdog::Run(double timeout) {
  const auto look = std::min(kLongestLook, std::chrono::duration<double>(timeout / 16));
  Clock::time_point looked = Clock::now();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kPause, [this] { return ends_; })) {
    try {
      launches_.Pump();
    } catch (const std::exception& error) {
      launches_.Abort(error.what());
    }
    if (Clock::now() - looked < look) continue;
    looked = Clock::now();
    launches_.Watch();
  }
}

}  // namespace torus::parallel
