#include "data/loading/loader.h"

#include <pthread.h>

#include <chrono>
#include <string>
#include <utility>

#include "data/loading/progress_deadline.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/run_context.h"
#include "runtime/trace.h"

namespace torus::data {
namespace {

using Clock = ProgressDeadline::Clock;
using Seconds = std::chrono::duration<double>;

// Throws a new `Kind` each time, so that every thread that reads the slot gets its own exception
// object.
template <class Kind>
std::function<void()> Raise(const MicroBatchName& name, const char* what) {
  return [message = fmt::format("[loader] {}: {}", name, what)] { throw Kind(message); };
}

}  // namespace

Loader::Loader(Sampler sampler, MakeBatch make, LoaderOptions options)
    : options_(Checked(std::move(options))),
      make_(std::move(make)),
      window_(std::move(sampler), options_) {
  try {
    for (int i = 0; i < options_.workers; ++i) {
      threads_.emplace_back([this, context = RunContext::Current()] {
        const WithRunContext with(context);
        Work();
      });
      pthread_setname_np(threads_.back().native_handle(), "torus loader");
    }
  } catch (const std::exception& e) {
    StopAndJoin();
    Throw<BrokenEnvironment>("loader", "cannot start {} workers: {}", options_.workers, e.what());
  }
}

Loader::~Loader() { StopAndJoin(); }

void Loader::StopAndJoin() {
  Stop();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  work_.notify_all();
  made_.notify_all();
}

void Loader::Work() try {
  SetProgressCounter(&progress_);
  SetTeamSize(1);
  std::unique_lock lock(mutex_);
  for (;;) {
    Slot* slot = nullptr;
    work_.wait(lock, [&] { return stopped_ || (slot = window_.Claim()) != nullptr; });
    if (stopped_) break;
    lock.unlock();
    Slot result;
    Make(*slot, &result);
    TickProgress();
    lock.lock();
    slot->batch = std::move(result.batch);
    slot->raise = std::move(result.raise);
    slot->made = true;
    made_.notify_all();
  }
  SetProgressCounter(nullptr);
} catch (...) {  // no memory for the next slots, or for an error message
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
  made_.notify_all();
}

void Loader::Make(const Slot& slot, Slot* result) const {
  const MicroBatchName name{slot.step, slot.replica, slot.micro_batch};
  try {
    result->batch = std::make_shared<const Batch>(make_(slot.part));
  } catch (const BadInput& e) {
    result->raise = Raise<BadInput>(name, e.what());
  } catch (const InternalError& e) {
    result->raise = Raise<InternalError>(name, e.what());
  } catch (const std::exception& e) {
    result->raise = Raise<BrokenEnvironment>(name, e.what());
  } catch (...) {
    result->raise = Raise<BrokenEnvironment>(name, "unknown error");
  }
}

Loader::Slot* Loader::Await(std::unique_lock<std::mutex>& lock, int64_t step, int replica,
                            int micro_batch) {
  ProgressDeadline deadline(progress_, options_.timeout_seconds, Clock::now());
  for (;;) {
    // Looked up each time: the window may have moved.
    Slot* const slot = window_.Find(step, replica, micro_batch);
    if (failure_) std::rethrow_exception(failure_);
    if (stopped_) {
      Throw<BrokenEnvironment>("loader", "stopped while {} was waited for",
                               MicroBatchName{step, replica, micro_batch});
    }
    if (slot != nullptr && slot->made) return slot;
    const Clock::time_point now = Clock::now();
    if (deadline.Renew(now)) TickProgress();
    if (deadline.Over(now)) {
      Throw<BrokenEnvironment>("loader", "waited for {} while no worker moved in {} s",
                               MicroBatchName{step, replica, micro_batch},
                               options_.timeout_seconds);
    }
    made_.wait_until(lock, deadline.NextTurn(now));
  }
}

Loader::BatchPtr Loader::Fetch(int64_t step, int replica, int micro_batch, double* waited) {
  const trace::Scope scope("fetch", "data", step, micro_batch);
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  Slot* const slot = Await(lock, step, replica, micro_batch);
  const BatchPtr batch = slot->batch;
  const std::function<void()> raise = slot->raise;
  if (window_.Fetched(slot)) work_.notify_all();
  lock.unlock();
  if (waited != nullptr) *waited += Seconds(Clock::now() - begin).count();
  if (raise) raise();
  return batch;
}

}  // namespace torus::data
