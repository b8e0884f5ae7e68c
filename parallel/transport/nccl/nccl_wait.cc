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

// Adds to errors what the rank was doing. If the run has been aborted, and so the communicator,
// throws the abort's error instead.
void Check(NcclComm& comm, const Transport& transport, const std::string& waiting) try {
  comm.Check();
} catch (const BrokenEnvironment& error) {
  transport.ThrowIfAborted();
  throw BrokenEnvironment(
      fmt::format("{}; rank {} was {}", error.what(), transport.world_rank(), waiting));
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

WaitTime WaitForWork(NcclWork& work, NcclComm& comm, Transport& transport, double timeout,
                     const std::string& waiting) {
  const Patience patience = PatienceOf(transport, timeout, waiting);
  const Clock::time_point begin = Clock::now();
  auto pause = kFirstPause;
  while (!work.Done()) {
    Check(comm, transport, waiting);
    patience(SecondsSince(begin));
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
  Check(comm, transport, waiting);  // what was aborted has ended too
  return {.moving = std::chrono::nanoseconds(Clock::now() - begin).count()};
}

std::unique_ptr<NcclWork> StartWork(const TransferText& message,
                                    const std::function<std::unique_ptr<NcclWork>()>& start) try {
  return start();
} catch (const BrokenEnvironment& error) {
  throw BrokenEnvironment(
      fmt::format("{}; rank {} was {}", error.what(), message.rank, WaitingText(message)));
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
