#include "parallel/transport/run_ranks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/progress.h"
#include "runtime/run_context.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct StuckHandler {
  std::mutex mutex;
  std::function<void(const std::string&)> end;
};

// Never destroyed: threads may outlive main.
StuckHandler& TheHandler() {
  static auto* const handler = new StuckHandler;
  return *handler;
}

void CallHandler(const std::string& message) {
  std::function<void(const std::string&)> end;
  {
    const std::lock_guard lock(TheHandler().mutex);
    end = TheHandler().end;
  }
  if (end) end(message);
}

// "rank 1 is in forward, stage 1, micro-batch 2, step 17"; empty if it has said nothing.
std::string ActivityText(int rank, const Activity& activity) {
  const char* const name = activity.name;
  if (name == nullptr) return "";
  std::string text = fmt::format("; rank {} is in {}", rank, name);
  const auto add = [&text](const char* what, int64_t number) {
    if (number >= 0) text += fmt::format(", {} {}", what, number);
  };
  add("stage", activity.stage);
  add("micro-batch", activity.micro_batch);
  add("step", activity.step);
  return text;
}

// The ranks' threads own it too, since one of them may be left behind.
class Runner : public std::enable_shared_from_this<Runner> {
 public:
  Runner(const InProcessWorld& world, std::function<void(Transport&)> fn, RunRanksOptions options)
      : world_(world),
        fn_(std::move(fn)),
        options_(options),
        finished_(world.size(), 0),
        errors_(world.size()) {}

  void Run() {
    ReleaseTeam();  // this thread only waits from here on
    std::vector<std::thread> threads;
    threads.reserve(world_.size());
    StartAll(threads);
    WaitForAll();
    const std::vector<int> stuck = JoinOrLeave(threads);
    if (!stuck.empty()) FailStuck(stuck);
    if (failed_) std::rethrow_exception(FirstError());
  }

 private:
  // A rank whose thread cannot be started counts as finished, and the others are stopped.
  void StartAll(std::vector<std::thread>& threads) {
    try {
      for (int rank = 0; rank < world_.size(); ++rank)
        threads.emplace_back([self = shared_from_this(), rank] { self->RunRank(rank); });
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      std::fill(finished_.begin() + static_cast<ptrdiff_t>(threads.size()), finished_.end(), 1);
      FailFromOutside(fmt::format("[ranks] cannot start a thread for rank {} of {}: {}",
                                  threads.size(), world_.size(), e.what()));
    }
  }

  void RunRank(int rank) {
    const WithRunContext with(context_);
    SetProgressCounter(&world_.progress(rank));
    try {
      trace::SetRank(rank, fmt::format("rank {}", rank));
      fn_(world_.transport(rank));
    } catch (...) {
      Fail(rank, std::current_exception());
    }
    SetProgressCounter(nullptr);
    const std::lock_guard lock(mutex_);
    finished_[rank] = 1;
    changed_.notify_all();
  }

  static std::string Message(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "an exception of unknown type";
    }
  }

  void Fail(int rank, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    errors_[rank] = std::move(error);
    if (!failed_) first_failed_ = rank;
    failed_ = true;
    world_.Abort(rank, Message(errors_[rank]));
    changed_.notify_all();
  }

  // The error of the rank that aborted the world. Other ranks fail because of it, and one of them
  // may have come here first.
  std::exception_ptr FirstError() const {
    if (from_outside_) return from_outside_;
    const int rank = world_.aborted_by();
    return rank >= 0 && errors_[rank] ? errors_[rank] : errors_[first_failed_];
  }

  std::vector<int> Running() const {
    std::vector<int> ranks;
    for (int rank = 0; rank < world_.size(); ++rank) {
      if (!finished_[rank]) ranks.push_back(rank);
    }
    return ranks;
  }

  uint64_t Progress() {
    uint64_t sum = 0;
    for (const int rank : Running())
      sum += world_.progress(rank).ticks.load(std::memory_order_relaxed);
    return sum;
  }

  // Waits until every rank has finished, one has failed, the world is aborted, or no rank has made
  // progress for too long.
  void WaitForAll() {
    std::unique_lock lock(mutex_);
    const Seconds limit(2 * world_.timeout());
    Clock::time_point moved = Clock::now();
    uint64_t progress = Progress();
    while (!Running().empty() && !failed_ && !world_.aborted()) {
      changed_.wait_for(lock, Seconds(std::min(world_.timeout() / 4, 1.0)));
      const uint64_t now = Progress();
      if (now != progress) moved = Clock::now();
      progress = now;
      if (Clock::now() - moved > limit) GiveUp(limit.count());
    }
    WaitForGrace(lock);
  }

  // A rank that finishes changes the sum of the counters too, so this is called only when none of
  // the running ranks makes progress.
  void GiveUp(double seconds) {
    if (failed_ || Running().empty()) return;
    FailFromOutside(fmt::format("[ranks] rank {} shows no progress for {:.2f} s",
                                fmt::join(Running(), ", "), seconds));
  }

  void FailFromOutside(const std::string& reason) {
    failed_ = true;
    from_outside_ = std::make_exception_ptr(BrokenEnvironment(reason));
    world_.Abort(-1, reason);
  }

  // Also of an abort that no rank has thrown, such as a watchdog's.
  std::string Reason() try {
    if (failed_) return Message(FirstError());
    world_.transport(0).ThrowIfAborted();
    return "the run was aborted";
  } catch (const BrokenEnvironment& aborted) {
    return aborted.what();
  }

  void WaitForGrace(std::unique_lock<std::mutex>& lock) {
    changed_.wait_for(lock, Seconds(options_.grace), [this] { return Running().empty(); });
  }

  // Returns the ranks whose threads have not ended.
  std::vector<int> JoinOrLeave(std::vector<std::thread>& threads) {
    std::vector<int> stuck;
    {
      const std::lock_guard lock(mutex_);
      stuck = Running();
    }
    for (const int rank : stuck) threads[rank].detach();
    for (std::thread& thread : threads)
      if (thread.joinable()) thread.join();
    return stuck;
  }

  [[noreturn]] void FailStuck(const std::vector<int>& stuck) {
    std::string message;
    {
      const std::lock_guard lock(mutex_);
      message = fmt::format("rank {} did not stop within {:.1f} s after: {}",
                            fmt::join(stuck, ", "), options_.grace, Reason());
    }
    for (const int rank : stuck) message += ActivityText(rank, world_.progress(rank).activity);
    CallHandler(message);
    Throw<StuckRank>("ranks", "{}", message);
  }

  InProcessWorld world_;
  const std::function<void(Transport&)> fn_;
  const RunRanksOptions options_;
  const RunContext context_ = RunContext::Current();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> finished_;
  std::vector<std::exception_ptr> errors_;  // one per rank
  bool failed_ = false;
  int first_failed_ = 0;
  std::exception_ptr from_outside_;  // an error of the run that no rank threw
};

}  // namespace

void RunRanks(InProcessWorld& world, const std::function<void(Transport&)>& fn,
              RunRanksOptions options) {
  std::make_shared<Runner>(world, fn, options)->Run();
}

void OnStuckRank(std::function<void(const std::string&)> end) {
  const std::lock_guard lock(TheHandler().mutex);
  TheHandler().end = std::move(end);
}

void RunRanks(int ranks, const std::function<void(Transport&)>& fn) {
  InProcessWorld world(ranks);
  RunRanks(world, fn);
}

std::vector<int> ThreadWorld::local() const {
  std::vector<int> ranks(world_.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace torus::parallel
