#include "parallel/transport/nccl/nccl_wait.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kFirstPause{10}, kLongestPause{500};

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

Patience PatienceOf(Transport& transport, double timeout, std::string waiting) {
  return [&transport, timeout, waiting = std::move(waiting)](double waited) {
    transport.ThrowIfAborted();
    TickProgress();
    if (waited <= timeout) return;
    const std::string text = fmt::format("[transport] rank {} gave up after {:.2f} s {}",
                                         transport.world_rank(), waited, waiting);
    transport.Abort(text);
    throw BrokenEnvironment(text);
  };
}

WaitTime WaitForWork(NcclWork& work, NcclComm& comm, const Patience& patience) {
  const Clock::time_point begin = Clock::now();
  auto pause = kFirstPause;
  while (!work.Done()) {
    comm.Check();
    patience(SecondsSince(begin));
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  return {.moving = std::chrono::nanoseconds(Clock::now() - begin).count()};
}

bool HasEnded(NcclWork& work) noexcept try { return work.Done(); } catch (...) {
  return false;
}

WaitTime WaitFor(Pending& pending, const TransferText& message) try {
  return pending.Wait();
} catch (const BrokenEnvironment& error) {
  throw BrokenEnvironment(fmt::format("{}; {}", error.what(), WaitingText(message)));
}

}  // namespace torus::parallel
