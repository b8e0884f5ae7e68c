#include "tools/common/stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace torus::tools {
namespace {

// Read by other threads than the one that receives the signal.
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void OnStopSignal(int signal) {
  if (caught.exchange(signal) != 0) _exit(128 + signal);
}

}  // namespace

void CatchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = OnStopSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int StopSignal() { return caught; }

void ThrowIfStopped() {
  if (StopSignal() != 0) throw Stopped();
}

}  // namespace torus::tools
