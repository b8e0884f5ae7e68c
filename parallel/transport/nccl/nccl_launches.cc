#include "parallel/transport/nccl/nccl_launches.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

using std::chrono::microseconds;
// Of host time only: other ranks wait for a launch, and streams for what has been launched.
constexpr microseconds kLongestToLaunch{50}, kLongestToEnd{500};
constexpr char kDropped[] = "a message of a GPU was dropped before its end";

double Seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// Calls `pump` until `ended` holds.
template <class Ended, class Pump>
void PollUntil(const Ended& ended, microseconds longest, const Pump& pump) {
  for (microseconds pause{2}; !ended(); pause = std::min(2 * pause, longest)) {
    pump();
    TickProgress();
    if (ended()) return;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

NcclLaunches::NcclLaunches(Transport& inner, NcclLibrary& library, Device device, double timeout)
    : inner_(inner), library_(library), device_(device), timeout_(timeout), turns_(inner) {}

NcclLaunches::~NcclLaunches() { End(); }

int NcclLaunches::Add(std::vector<int> members, std::unique_ptr<NcclComm> comm) {
  const std::lock_guard lock(mutex_);
  turns_.Add(std::move(members));
  comms_.push_back(std::move(comm));
  return static_cast<int>(comms_.size()) - 1;
}

std::shared_ptr<NcclLaunch> NcclLaunches::Put(const Turn& turn, StreamHandle stream,
                                              std::string waiting, NcclLaunch::Start start) {
  auto launch = std::make_shared<NcclLaunch>();
  launch->after_ = library_.Mark(device_, stream);
  launch->waiting_ = std::move(waiting);
  launch->start_ = std::move(start);
  {
    const std::lock_guard lock(mutex_);
    launch->comm_ = comms_.at(turn.communicator).get();
    waiting_.emplace(turn, launch);
    turns_.Ask(turn);
  }
  Pump();
  return launch;
}

void NcclLaunches::Pump() {
  const std::lock_guard lock(mutex_);
  while (const auto turn = turns_.Next()) LaunchNext(*turn);
}

// A call that fails is the end of the run; whoever waits for the operation learns of that.
void NcclLaunches::LaunchNext(const Turn& turn) {
  const auto found = waiting_.find(turn);
  TORUS_CHECK(found != waiting_.end(), "a turn that was not asked for");
  const std::shared_ptr<NcclLaunch> launch = std::move(found->second);
  waiting_.erase(found);
  if (ended_) return;
  try {
    launch->work_ = launch->start_(*launch->comm_, *launch->after_);
  } catch (const std::exception& error) {
    inner_.Abort(
        fmt::format("{}; rank {} was {}", error.what(), inner_.world_rank(), launch->waiting_));
    return;
  }
  moved_ = Clock::now();
  launch->launched_.store(true, std::memory_order_release);
  running_.push_back(launch);
}

void NcclLaunches::WaitUntilLaunched(NcclLaunch& launch) {
  PollUntil([&] { return launch.launched(); }, kLongestToLaunch,
            [&] {
              inner_.ThrowIfAborted();
              Pump();
            });
}

// If the run has been aborted, and so the communicator, throws the abort's error.
void NcclLaunches::ThrowIfFailed(NcclLaunch& launch) const try {
  launch.comm_->Check();
} catch (const BrokenEnvironment& error) {
  inner_.ThrowIfAborted();
  throw BrokenEnvironment(
      fmt::format("{}; rank {} was {}", error.what(), inner_.world_rank(), launch.waiting_));
}

WaitTime NcclLaunches::WaitForEnd(NcclLaunch& launch, NcclWork& work) {
  const Clock::time_point begin = Clock::now();
  PollUntil([&] { return work.Done(); }, kLongestToEnd,
            [&] {
              ThrowIfFailed(launch);
              inner_.ThrowIfAborted();
              Pump();
            });
  ThrowIfFailed(launch);  // what was aborted has ended too
  return {.moving = std::chrono::nanoseconds(Clock::now() - begin).count()};
}

WaitTime NcclLaunches::WaitForEnd(NcclLaunch& launch) {
  WaitUntilLaunched(launch);
  return WaitForEnd(launch, launch.work());
}

void NcclLaunches::Watch() {
  try {
    inner_.ThrowIfAborted();
    const std::lock_guard lock(mutex_);
    CheckAll();
    if (Stalled(Clock::now()))
      inner_.Abort(Gave(*running_.front(), Seconds(Clock::now() - moved_)));
    inner_.ThrowIfAborted();
  } catch (const std::exception&) {
    End();
  }
}

// Aborts the run if a communicator has failed, whether or not a call of it is under way.
void NcclLaunches::CheckAll() {
  for (const auto& comm : comms_) try {
      if (comm != nullptr && !ended_) comm->Check();
    } catch (const std::exception& error) {
      const auto of_it = [&](const auto& launch) { return launch->comm_ == comm.get(); };
      const auto found = std::ranges::find_if(running_, of_it);
      inner_.Abort(found == running_.end() ? error.what()
                                           : fmt::format("{}; rank {} was {}", error.what(),
                                                         inner_.world_rank(), (*found)->waiting_));
    }
}

// Whatever ends anywhere gives all ranks new time: a rank may wait for one that computes.
bool NcclLaunches::Stalled(Clock::time_point now) {
  if (std::erase_if(running_, [](const auto& launch) { return launch->work_->Peek(); }) > 0)
    turns_.TellProgress();
  if (turns_.TakeProgress()) moved_ = now;
  return !running_.empty() && Seconds(now - moved_) > timeout_;
}

std::string NcclLaunches::Gave(const NcclLaunch& launch, double waited) const {
  return fmt::format(
      "[transport] rank {} gave up after {:.2f} s without a message or sum by NCCL that has ended "
      "on any GPU, {}",
      inner_.world_rank(), waited, launch.waiting_);
}

void NcclLaunches::End() noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(ended_, true)) return;
  std::vector<NcclComm*> all;
  for (const auto& comm : comms_)
    if (comm != nullptr) all.push_back(comm.get());
  library_.Abort(all);
}

void NcclLaunches::Drop() noexcept {
  inner_.Abort(kDropped);
  End();
}

}  // namespace torus::parallel
